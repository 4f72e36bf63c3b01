package loop

import (
	"cmp"
	"context"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop/proposal"
)

// RecordRefusal records that an iteration could not begin, as an error of the
// program: it counts as a run, so that others get their turn, and the third in a
// row pauses the program with the reason. An iteration that waits for CI goes on
// waiting.
func (s *Service) RecordRefusal(ctx context.Context, reason string) (Result, error) {
	run := s.without().begin()
	run.store = recordsOnly{run.store}
	return run.through(ctx, run.shownOnGitHub(func(ctx context.Context) (Result, error) {
		if err := run.lease.acquireLease(ctx); err != nil {
			return Result{}, err
		}
		if run.asksCI(run.records) {
			run.stopped = reason // CI decides over the iteration: this is no error of it
			return run.finish(ctx)
		}
		return run.fail(ctx, position{}, decision.Say(reason))
	}))
}

// ProposeRefusal is Propose where an iteration cannot begin: the bundle asks to record
// that as RecordRefusal does. What the publishing job has to do first, such as
// reading CI, comes first here too.
func (s *Service) ProposeRefusal(ctx context.Context, reason string) (*proposal.Bundle, Result, error) {
	own := s.without()
	own.refusal = reason
	return own.Propose(ctx)
}

// recordsOnly is a store for a run that never moves the program branch, and so does
// not mind that somebody works on it.
type recordsOnly struct{ store }

func (s recordsOnly) Update(ctx context.Context, u memory.Update) (string, error) {
	u.Claims = ""
	return s.store.Update(ctx, u)
}

// without is the service where the program's agent does not work.
func (s *Service) without() *Service {
	own := *s
	own.Agents, own.absent = nil, cmp.Or(s.Program.Agent, "none")
	return &own
}
