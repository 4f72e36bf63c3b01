package evalrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/sandbox"
)

// Options say how a suite is run.
type Options struct {
	Runner
	// Agent is the executor: it works on the cases.
	Agent agent.Agent
	// Timeout bounds the executor in each case, 0 for ten minutes.
	Timeout time.Duration
	// Start is the command of the server that the cases ask, "" for none, and Setup
	// what runs in its directory before: a copy of the skill.
	Setup, Start string
}

const defaultTimeout = 10 * time.Minute

// Result is what a suite came to.
type Result struct {
	// Cases are in the order of the suite.
	Cases []suite.CaseScore
	// Rate is the mean pass rate over all of them, of several runs the median.
	Rate metric.Value
	// Expense is what executors and graders used, also in a run without a result.
	Expense history.Expense
	// Runs are the cases of each run that the result was put together from.
	Runs [][]suite.CaseScore
}

// resultOf is what several runs of a suite came to.
func resultOf(runs ...[]suite.CaseScore) Result {
	rates := lists.Map(runs, suite.MeanPassRate)
	return Result{Cases: suite.Aggregate(runs...), Rate: statistics.Median(rates), Runs: runs}
}

// Run runs every case of a skill and grades it. Below out, a directory, it
// leaves eval-<id>/ with transcript.md, outputs/ and grading.json for each. A
// case whose executor fails counts 0 and is part of the result; a *NoResultError or
// *misuse.Error, or the end of ctx, means that no run counts but for its Expense.
func Run(ctx context.Context, skill *Skill, out string, o Options) (result Result, err error) {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if err := o.Fit(skill); err != nil {
		return result, err
	}
	s := &session{Options: o, skill: skill, out: out, spent: &Spending{Budget: o.Budget, Begun: o.Now()}}
	if o.Start != "" && skill.Cases[0].Trigger == nil {
		end, err := s.serve(ctx)
		if err != nil {
			return result, err
		}
		defer end()
	}
	done, err := s.all(ctx)
	if err == nil {
		result = resultOf(done)
	}
	result.Expense = s.spent.Used()
	return result, err
}

// Fit says what is missing before anything is spent, as a *misuse.Error.
func (o Options) Fit(skill *Skill) error {
	for _, c := range skill.Cases {
		if len(c.Expectations) > 0 && o.Grader == nil {
			reason := cmp.Or(o.NoGrader, "none was chosen")
			return misuse.Errorf("case %s has expectations, which need a grader: %s; choose one with `judge` "+
				"(--judge), or use deterministic checks alone", c.ID, reason)
		}
	}
	return nil
}

// session is one run of a suite.
type session struct {
	Options

	skill *Skill
	out   string
	// url is where the server of the skill listens, "" for none.
	url string

	spent *Spending
}

// all runs the cases, some at the same time. After an error those that run are ended, since none
// of them counts then; at the limit they come to their end.
func (s *session) all(ctx context.Context) ([]suite.CaseScore, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make([]suite.CaseScore, len(s.skill.Cases))
	told := 0
	var telling sync.Mutex
	err := Each(ctx, s.Jobs, len(done), func(i int) (err error) {
		done[i], err = s.one(ctx, i, s.skill.Cases[i])
		if none, is := errors.AsType[*NoResultError](err); err != nil && (!is || none.What != suite.BudgetUsedUp) {
			cancel(err)
		}
		telling.Lock()
		defer telling.Unlock()
		if err == nil {
			told++
			s.tell(done[i].Line(told, len(done)))
		}
		return err
	})
	if none, is := errors.AsType[*NoResultError](err); is {
		none.Reason += fmt.Sprintf("; with %d of %d cases done, nothing was decided: run the same command again "+
			"when it can go on, or choose another agent or judge", told, len(done))
	}
	return done, err
}

// at is the skill's path in a sandbox.
func (s *session) at() string { return path.Join(agent.ProjectOf(s.Agent).Skills, s.skill.Name) }

// fixture is the skill without its suites.
func (s *Skill) fixture() sandbox.Fixture {
	return sandbox.Fixture{Name: "skill " + s.Name, Dir: s.Dir, Leave: s.hidden}
}

// compose makes what a case begins with: the skill, the case's files and an
// empty outputs/.
func (s *session) compose(ctx context.Context, dir string, c suite.Case) (*sandbox.Template, error) {
	parts := []sandbox.Fixture{s.skill.fixture()}
	parts[0].At = s.at()
	for _, file := range c.Files {
		place, name := path.Split(file.From)
		parts = append(parts, sandbox.Fixture{
			Name: "files of case " + c.ID,
			Dir:  filepath.Join(cmp.Or(s.skill.Inputs, s.skill.Dir), place),
			At:   path.Dir(file.To), Leave: func(found string) bool { return found != name },
		})
	}
	template, err := sandbox.Compose(ctx, dir, "sandbox", parts, nil, suite.OutputsDir)
	if err != nil {
		err = fmt.Errorf("case %s: %w", c.ID, err)
	}
	return template, err
}

// prompt is what the executor is told: the case's prompt, and where things are.
func (s *session) prompt(c suite.Case) string {
	if c.Trigger != nil {
		return c.Prompt
	}
	var out strings.Builder
	out.WriteString(strings.TrimRight(c.Prompt, "\n"))
	out.WriteString("\n\n---\n")
	if !s.skill.bare {
		fmt.Fprintf(&out, "The skill %s is installed at %s. Read its %s first and follow it.\n", s.skill.Name,
			s.at(), SkillFile)
	}
	if s.url != "" {
		fmt.Fprintf(&out, "The server of the skill listens at %s.\n", s.url)
	}
	if len(c.Files) > 0 {
		out.WriteString("Files for this task:\n")
		for _, file := range c.Files {
			fmt.Fprintf(&out, "- %s\n", file.To)
		}
	}
	fmt.Fprintf(&out, "Put every file that you produce into %s/, in the current directory.\n", suite.OutputsDir)
	return out.String()
}

// serve starts the server of the skill anew, in a sandbox of its own with the
// skill's files. A server that does not start is a *misuse.Error: it is the skill's.
func (s *session) serve(ctx context.Context) (end func(), err error) {
	skill := s.skill.fixture()
	box, err := s.Sandboxes.Open(ctx, filepath.Join(s.RunDir, "server"),
		func(ctx context.Context, dir string) (*sandbox.Template, error) {
			return sandbox.Compose(ctx, dir, skill.Name, []sandbox.Fixture{skill}, nil)
		}, s.Env)
	if err != nil {
		return nil, err
	}
	box.Masker = s.Masker
	var stop func()
	if s.url, stop, err = box.Serve(ctx, s.Setup, s.Start, s.Timeout); err != nil {
		return nil, errors.Join(err, box.Close())
	}
	return func() {
		stop()
		_ = box.Close() // else the run's directory goes with it
	}, nil
}

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
		Metric:  &result.Rate,
		Numbers: suite.CaseNumbers(result.Cases),
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
	o.Budget = Budget{Limit: request.Limit}
	if err := errors.Join(os.MkdirAll(o.RunDir, 0o700), os.MkdirAll(out, 0o700)); err != nil {
		return Result{}, err
	}
	result, err := Run(ctx, skill, out, o)
	return result, errors.Join(err, o.Sandboxes.Remove(o.RunDir))
}

// problem tells what is wrong with the skill, and what is over its limit, from
// failures of our own. The outcome has what was used until then.
func (e *Evaluator) problem(ctx context.Context, outcome evaluation.Result, err error) (evaluation.Result, error) {
	none, is := errors.AsType[*NoResultError](err)
	outcome.OverLimit = is && none.What == suite.BudgetUsedUp
	if ctx.Err() == nil && (is || misuse.Is(err)) {
		outcome.Problem, err = e.Masker.OneLine(err.Error(), MaxWords), nil
	}
	return outcome, err
}
