package evalrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/internal/suite/work"
)

// Options say how a suite is run.
type Options struct {
	// Agent is the executor: it works on the cases. Model and Command are handed
	// on to it, and Env are variables that it and the checks may see.
	Agent          agent.Agent
	Model, Command string
	Env            []string
	// Jobs is how many cases run at the same time, 0 for two; Timeout bounds the
	// executor in each, 0 for ten minutes.
	Jobs    int
	Timeout time.Duration
	// Limit bounds what executors and graders use together: when it is reached no
	// further case begins, and there is no result.
	Limit work.Budget
	// Grader is needed where a case has expectations; NoGrader says why there is
	// none.
	Grader   judge.Grader
	NoGrader string
	// Start is the command of the server that the cases ask, "" for none, and Setup
	// what runs in its directory before: a copy of the skill.
	Setup, Start string
	// Sandboxes makes the sandboxes, below RunDir: a private directory.
	Sandboxes *sandbox.Maker
	RunDir    string
	Masker    process.Masker
	// Now tells the time, for the durations in gradings.
	Now func() time.Time
	// Progress, optional, is told after each case; calls do not overlap.
	Progress func(done, total int, c evals.CaseScore)
}

const (
	defaultJobs    = 2
	defaultTimeout = 10 * time.Minute
)

// Result is what a suite came to.
type Result struct {
	// Cases are in the order of the suite.
	Cases []evals.CaseScore
	// Rate is the mean pass rate over all of them.
	Rate *big.Rat
	// Expense is what executors and graders used, also in a run without a result.
	Expense history.Expense
}

// Runs are the cases of each run that the result was put together from.
func (r Result) Runs() [][]evals.CaseScore {
	if len(r.Cases) == 0 || r.Cases[0].Runs == nil {
		return [][]evals.CaseScore{r.Cases}
	}
	runs := make([][]evals.CaseScore, len(r.Cases[0].Runs))
	for i := range runs {
		for _, c := range r.Cases {
			runs[i] = append(runs[i], c.Runs[i])
		}
	}
	return runs
}

// NoAnswerError says that an executor or a grader could not do its work, through
// no fault of the skill or of the caller: it is out of reach, refuses the login,
// is at a limit of its provider, or answers with something else.
type NoAnswerError struct{ Reason string }

// Error gives the reason and what to do, on one line.
func (e *NoAnswerError) Error() string {
	return e.Reason + "; nothing was decided by it: run the same command again when it answers, or choose another one"
}

// LimitError says that Options.Limit was reached.
type LimitError struct{ Reason string }

// Error gives the reason, on one line.
func (e *LimitError) Error() string { return e.Reason }

// Run runs every case of a skill and grades it. Below out, a directory, it
// leaves eval-<id>/ with transcript.md, outputs/ and grading.json for each. A
// case whose executor fails counts 0 and is part of the result; a *NoAnswerError,
// *LimitError or *misuse.Error, or the end of ctx, means that no run counts but
// for its Expense.
func Run(ctx context.Context, skill *Skill, out string, o Options) (Result, error) {
	if o.Jobs <= 0 {
		o.Jobs = defaultJobs
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if err := o.Fit(skill); err != nil {
		return Result{}, err
	}
	if err := sandbox.Inspect(ctx, skill.fixture()); err != nil {
		return Result{}, faultOf(err)
	}
	s := &session{Options: o, skill: skill, out: out, spent: &work.Spending{Budget: o.Limit, Begun: o.Now()}}
	if o.Start != "" && skill.queries == nil {
		end, err := s.serve(ctx)
		if err != nil {
			return Result{}, err
		}
		defer end()
	}
	done := make([]evals.CaseScore, len(skill.Evals.Cases))
	err := s.all(ctx, done)
	expense, _ := s.spent.Used()
	if err != nil {
		return Result{Expense: expense}, err
	}
	return Result{Cases: done, Rate: evals.MeanPassRate(done), Expense: expense}, nil
}

// Fit says what is missing before anything is spent, as a *misuse.Error.
func (o Options) Fit(skill *Skill) error {
	for _, c := range skill.Evals.Cases {
		if len(c.Expectations) > 0 && o.Grader == nil {
			reason := cmp.Or(o.NoGrader, "none was chosen")
			return misuse.Errorf("case %s has expectations, which need a grader: %s; choose one with `judge` "+
				"(--judge), or use deterministic checks alone", c.ID, reason)
		}
	}
	return nil
}

// faultOf makes what cannot be put into a sandbox a fault of the skill.
func faultOf(err error) error {
	if _, is := errors.AsType[*sandbox.PathError](err); is {
		return misuse.New(err)
	}
	return err
}

// session is one run of a suite.
type session struct {
	Options

	skill *Skill
	out   string
	// url is where the server of the skill listens, "" for none.
	url string

	spent *work.Spending
}

// all runs the cases, some at the same time. After an error those that run are ended; at
// the limit they come to their end.
func (s *session) all(ctx context.Context, done []evals.CaseScore) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	numbers := make([]int, len(done))
	for i := range numbers {
		numbers[i] = i
	}
	begun, told := 0, 0
	var telling sync.Mutex
	return work.Each(ctx, s.Jobs, numbers, func(int) error {
		if err := s.spent.Over(s.Now()); err != nil {
			return &LimitError{fmt.Sprintf("%v with %d of %d cases begun", err, begun, len(done))}
		}
		begun++
		return nil
	}, func(ctx context.Context, i int) (err error) {
		done[i], err = s.one(ctx, i, s.skill.Evals.Cases[i])
		if err != nil {
			if _, is := errors.AsType[*LimitError](err); !is {
				cancel(err)
			}
			return err
		}
		telling.Lock()
		defer telling.Unlock()
		if told++; s.Progress != nil {
			s.Progress(told, len(done), done[i])
		}
		return nil
	})
}
