package evalrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/evals"
)

// Evaluator measures a skill in a tree of the repository: its metric is the mean
// pass rate. The tree's eval suite is the incumbent's, since a candidate that
// touches it is never measured.
type Evaluator struct {
	Options

	// Skill and Evals are the paths of the skill and of its eval file from the
	// tree's root, with slashes.
	Skill, Evals string
	// Shell runs the program's setup.
	Shell interface {
		Run(ctx context.Context, request evaluation.Request) (evaluation.Result, error)
	}
	// Keep is a directory in which each evaluation gets its own.
	Keep string

	number atomic.Int64
}

// maxTail bounds what is said of an evaluation's failures, in bytes.
const maxTail = 4000

// Run evaluates the skill in request.Dir. What is wrong with skill or suite, and
// what keeps the suite from being run, is an Outcome with a Problem; the error
// is for failures of our own, and then too the Outcome says what was used.
func (e *Evaluator) Run(ctx context.Context, request evaluation.Request) (evaluation.Result, error) {
	if request.Setup != "" {
		prepare := request
		prepare.Script = "echo 0"
		if outcome, err := e.Shell.Run(ctx, prepare); err != nil || outcome.Problem != "" {
			return outcome, err
		}
	}
	begun := e.Now()
	result, err := e.evaluate(ctx, request)
	outcome := evaluation.Result{Duration: e.Now().Sub(begun), Expense: result.Expense.Given()}
	if err != nil {
		return e.problem(ctx, outcome, err)
	}
	outcome.Tail = e.Masker.String(Failures(result, maxTail))
	outcome.Measurement = metric.Measurement{
		Metric:  new(evals.RateValue(result.Rate)),
		Numbers: evals.CaseNumbers(result.Cases),
	}
	return outcome, nil
}

func (e *Evaluator) evaluate(ctx context.Context, request evaluation.Request) (Result, error) {
	skill, err := Load(request.Dir, e.Skill, e.Evals)
	if err != nil {
		return Result{}, err
	}
	number := e.number.Add(1)
	o, out := e.Options, filepath.Join(e.Keep, fmt.Sprintf("evaluation-%03d", number))
	o.Timeout, o.RunDir = request.Timeout, filepath.Join(e.RunDir, fmt.Sprintf("e%03d", number))
	o.Budget = Budget{Tokens: request.Limit.Tokens, USD: request.Limit.CostUSD}
	if err := errors.Join(os.MkdirAll(o.RunDir, 0o700), os.MkdirAll(out, 0o700)); err != nil {
		return Result{}, err
	}
	result, err := Run(ctx, skill, out, o)
	return result, errors.Join(err, o.Sandboxes.Remove(o.RunDir))
}

// problem tells what is wrong with the skill, and what is over its limit, from
// failures of our own. The outcome has what was used until then.
func (e *Evaluator) problem(ctx context.Context, outcome evaluation.Result, err error) (evaluation.Result, error) {
	_, fault := errors.AsType[*misuse.Error](err)
	none, is := errors.AsType[*NoResultError](err)
	outcome.OverLimit = is && none.What == suite.BudgetUsedUp
	if ctx.Err() == nil && (is || fault) {
		outcome.Problem, err = e.Masker.OneLine(err.Error(), MaxWords), nil
	}
	return outcome, err
}
