package evalrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/internal/suite/sandbox"
)

// defaultJobs is how many runs there are at the same time.
const defaultJobs = 2

// Each does that many pieces of work, in their order and so many at the same time, 0 for two.
// After an error, which it returns, no further one begins, and those that run come to their end.
func Each(ctx context.Context, jobs, pieces int, do func(i int) error) error {
	group, going := errgroup.WithContext(ctx)
	group.SetLimit(cmp.Or(jobs, defaultJobs))
	for i := range pieces {
		group.Go(func() error {
			select {
			case <-going.Done():
				return nil
			default:
				return do(i)
			}
		})
	}
	err := group.Wait()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// Budget bounds what a run of a suite may use; zero fields are unbounded. What is
// running when it is used up ends by itself.
type Budget struct {
	metric.Limit
	Time time.Duration
	// UnknownCostPauses ends a run whose agent does not say what it costs.
	UnknownCostPauses bool
}

// Limits reports whether an agent is held to what is left.
func (b Budget) Limits() bool { return b.CostUSD != nil || b.Tokens > 0 }

// Spending is what was used of a budget. Its methods may be called at the same time.
type Spending struct {
	Budget
	Begun time.Time

	mu      sync.Mutex
	expense history.Expense
	unknown int
}

// Add adds what an agent or a judge used; nil is unknown, which of a judge is no reason to
// stop.
func (s *Spending) Add(used metric.Usage, judge bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expense.Add(used.Tokens(), used.CostUSD)
	if !judge && used.Tokens() == nil && used.CostUSD == nil {
		s.unknown++
	}
}

// Used is all of it.
func (s *Spending) Used() history.Expense {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.expense
}

// Known is what is known to be used, and how many agents did not say what they used.
func (s *Spending) Known() (tokens int64, usd metric.Value, unknown int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *cmp.Or(s.expense.Tokens, new(int64)), *cmp.Or(s.expense.CostUSD, &metric.Value{}), s.unknown
}

// Over says which bound is reached, nil for none: then nothing more may begin.
func (s *Spending) Over(now time.Time) error {
	tokens, usd, unknown := s.Known()
	var reached any
	switch {
	case s.CostUSD != nil && usd.Cmp(*s.CostUSD) >= 0:
		reached = s.CostUSD.String() + " USD"
	case s.Tokens > 0 && tokens >= s.Tokens:
		reached = fmt.Sprintf("%d tokens", s.Tokens)
	case s.Time > 0 && now.Sub(s.Begun) >= s.Time:
		reached = s.Time
	case s.UnknownCostPauses && unknown > 0 && s.Limits():
		return &NoResultError{
			suite.BudgetUsedUp, "the agent does not say what it costs, and `unknown-cost` is `pause`",
		}
	default:
		return nil
	}
	return &NoResultError{suite.BudgetUsedUp, fmt.Sprintf("the budget of %v is used up", reached)}
}

// Left is what a run that begins now may use, never nothing: no command line takes 0.
func (s *Spending) Left() (left metric.Limit) {
	used, spent, _ := s.Known()
	if s.Tokens > 0 {
		left.Tokens = max(s.Tokens-used, 1)
	}
	if s.CostUSD != nil {
		rest := s.CostUSD.Sub(spent)
		if least := metric.MustValue("0.0001"); rest.Cmp(least) < 0 {
			rest = least
		}
		left.CostUSD = &rest
	}
	return left
}

// Runner is what the runs of a suite of either format have in common.
type Runner struct {
	// Model and Command are handed on to agents, and Env are variables that they and
	// the checks may see.
	Model, Command string
	Env            []string
	// Jobs is how many runs there are at the same time, 0 for two.
	Jobs   int
	Budget Budget
	// Grader, optional, judges what has a rubric or expectations; NoGrader says why
	// nobody does, "" when that needs no saying.
	Grader   judge.Grader
	NoGrader string
	// Sandboxes makes the sandboxes, below RunDir: an empty private directory.
	Sandboxes *sandbox.Maker
	RunDir    string
	Masker    process.Masker
	// Now tells the time, for the budget and for durations.
	Now func() time.Time
	// Progress, optional, is told how far it is, in a line, after each run; calls do not overlap.
	Progress func(line string)
}

func (r *Runner) tell(line string) {
	if r.Progress != nil {
		r.Progress(line)
	}
}

// Attempt is one run: an agent works in a sandbox of what From puts there.
type Attempt struct {
	Format suite.Format
	// Name is what errors call it, and Box names its sandbox below RunDir.
	Name, Box string
	Agent     agent.Agent
	From      func(ctx context.Context, dir string) (*sandbox.Template, error)
	// Keep is where what the run leaves is kept.
	Keep string
	// Request is what the agent is asked in a sandbox, but for what is the same for all.
	Request func(*sandbox.Box) agent.Request
	// Look looks at what the agent left, also when it failed.
	Look func(*sandbox.Box, agent.Reply) error
}

// NoResultError says that a run came to nothing, through no fault of what is measured or
// of the caller.
type NoResultError struct {
	What   suite.Failure
	Reason string
}

// Error gives the reason and what to do, on one line.
func (e *NoResultError) Error() string { return e.Reason }

// Try makes one run, and leaves no sandbox behind. An agent's failure that would be one
// of any configuration is a *NoResultError, and so is a budget that is used up before.
func (r *Runner) Try(ctx context.Context, spent *Spending, a Attempt) (err error) {
	if err := spent.Over(r.Now()); err != nil {
		return err
	}
	box, err := r.Sandboxes.Open(ctx, filepath.Join(r.RunDir, a.Box), a.From, r.Env)
	if err != nil {
		return err
	}
	defer func() {
		if closed := box.Close(); closed != nil && err == nil {
			err = fmt.Errorf("remove the sandbox of %s: %w", a.Name, closed)
		}
	}()
	request := a.Request(box)
	request.Dir, request.Home, request.Env = box.Dir, box.Home, append(request.Env, box.Env...)
	request.Model, request.Command, request.Targets = r.Model, r.Command, box.From.Manifest.Paths()
	request.IsTarget = func(string) bool { return true }
	request.Limit = spent.Left()
	reply, err := a.Agent.Propose(ctx, request)
	spent.Add(reply.Usage, false)
	if err != nil {
		return fmt.Errorf("%s: %w", a.Name, err)
	}
	box.Masker = r.Masker.With(reply.Secrets)
	if err := a.Look(box, reply); err != nil {
		return err
	}
	if failure := reply.Failure; failure != nil {
		what := suite.OfAgent(failure.Kind, failure.NotStarted, spent.Limits())
		if a.Format.After(what) == suite.NoResult {
			return &NoResultError{what, fmt.Sprintf("%s: agent %s: %s", a.Name, a.Agent.Name(),
				box.Masker.OneLine(failure.Error(), MaxWords))}
		}
	}
	// A full disk makes agents and checks fail: that is no result.
	return errors.Join(Room(box.Base), Room(a.Keep))
}

// MaxWords bounds what is kept of failures and last words, in characters.
const MaxWords = 400
