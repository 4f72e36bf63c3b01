package work

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/cache"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/internal/suite/sandbox"
)

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
}

// Attempt is one run: an agent works in a fresh copy of a template.
type Attempt struct {
	Format suite.Format
	// Name is what errors call it, and Box names its sandbox below RunDir.
	Name, Box string
	Agent     agent.Agent
	From      *sandbox.Template
	// Keep is where what the run leaves is kept.
	Keep string
	// Request is what the agent is asked in a sandbox, but for what is the same for all.
	Request func(*sandbox.Box) agent.Request
	// Look looks at what the agent left, also when it failed. The masker hides what the
	// agent could log in with, too.
	Look func(*sandbox.Box, agent.Reply, process.Masker) error
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
// of any configuration is a *NoResultError.
func (r *Runner) Try(ctx context.Context, spent *Spending, a Attempt) (err error) {
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
	request.Model, request.Command, request.Targets = r.Model, r.Command, a.From.Manifest.Paths()
	request.IsTarget = func(string) bool { return true }
	request.Limit.Tokens, request.Limit.CostUSD = spent.Left()
	reply, err := a.Agent.Propose(ctx, request)
	spent.Worked(reply.Usage.Tokens(), reply.Usage.CostUSD)
	if err != nil {
		return fmt.Errorf("%s: %w", a.Name, err)
	}
	masker := r.Masker.With(reply.Secrets)
	box.Hide(reply.Secrets)
	if err := a.Look(box, reply, masker); err != nil {
		return err
	}
	if failure := reply.Failure; failure != nil {
		what := suite.OfAgent(failure.Kind, failure.NotStarted, spent.Limits())
		if a.Format.After(what) == suite.NoResult {
			return &NoResultError{what, fmt.Sprintf("%s: agent %s: %s", a.Name, a.Agent.Name(),
				masker.OneLine(failure.Error(), MaxWords))}
		}
	}
	// A full disk makes agents and checks fail: that is no result.
	return errors.Join(cache.Room(box.Base), cache.Room(a.Keep))
}

// MaxWords bounds what is kept of failures and last words, in characters.
const MaxWords = 400
