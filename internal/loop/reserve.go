package loop

import (
	"cmp"
	"context"
	"errors"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
)

// Reservation says whether an iteration begins in another job.
type Reservation struct {
	Program string `json:"program"`
	// Begun says that the start is recorded; Iteration and RunID are those of it.
	Begun     bool   `json:"begun"`
	Iteration int    `json:"iteration"`
	RunID     string `json:"run_id,omitempty"`
	// Reason says why nothing begins; Failed, that it could not be found out.
	Reason   string   `json:"reason,omitempty"`
	Failed   bool     `json:"failed,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Reserve records that an iteration begins in a job that cannot write: its lease,
// its number, and what it may use of the budgets. Propose works under that start,
// and Publish settles it. The start of a run that never comes back stays on
// record: the next one counts it as interrupted, with all that was reserved, and
// the third in a row pauses the program.
func (s *Service) Reserve(ctx context.Context) (Reservation, error) {
	own := s.without()
	own.Holder.PID, own.Holder.ProcessStart, own.Holder.Namespace, own.Holder.Handed = 0, "", "", true
	run := own.begin()
	result, err := run.through(ctx, run.shownOnGitHub(run.reserve))
	made := Reservation{Program: s.Program.Name, Iteration: result.Iteration, Warnings: result.Warnings}
	if err != nil || run.stopped != "" || result.Outcome != "" {
		made.Reason = cmp.Or(run.stopped, decision.Joined(result.Reasons))
		return made, err
	}
	made.Begun, made.RunID = true, run.id
	return made, nil
}

// reserve takes the lease for another job. The result has no outcome when it may
// begin.
func (r *run) reserve(ctx context.Context) (Result, error) {
	if err := r.acquire(ctx); err != nil {
		return Result{}, err
	}
	if r.records.sum.Interrupted >= maxInterrupted {
		return r.pauseInterrupted(ctx)
	}
	return r.result(""), nil
}

// acquire takes the lease. A program that is paused or completed gets it when a
// comment ends that.
func (r *run) acquire(ctx context.Context) error {
	err := r.lease.acquireLease(ctx)
	if !isResting(err) || r.GitHub == nil {
		return err
	}
	r.mayWrite = r.lease.requireNoLease
	if err := r.readComments(ctx); err != nil {
		return err
	}
	r.mayWrite = (*records).holdsLease
	return r.lease.acquireLease(ctx)
}

// pauseInterrupted pauses a program whose runs keep vanishing, and says so where
// people look.
func (r *run) pauseInterrupted(ctx context.Context) (Result, error) {
	if r.comments == nil {
		if err := r.readComments(ctx); err != nil {
			return Result{}, err
		}
	}
	return r.failForPerson(ctx, decision.Reason{
		Kind: decision.Interrupted, Count: r.iteration,
		Of: r.records.sum.Interrupted,
	})
}

// Chores does what a job that proposes leaves to the one that may write: it applies
// commands, reads CI, and records that the default branch does not merge. With nothing
// of that to do it is GiveBack.
func (s *Service) Chores(ctx context.Context) (Result, error) {
	run := s.begin()
	run.lease.joins, run.gate.fixer = true, nil
	return run.through(ctx, run.shownOnGitHub(run.chores))
}

func (r *run) chores(ctx context.Context) (Result, error) {
	result, ended, err := r.prepare(ctx)
	if err == nil && !ended {
		_, err = r.branches.sync(ctx)
		if conflict, ok := errors.AsType[*conflictError](err); ok {
			return r.failForPerson(ctx, conflict.reason())
		}
	}
	blocked, is := errors.AsType[*blockedError](err)
	if is && blocked.outcome == history.Idle || err == nil && !ended {
		return r.giveBack(ctx)
	}
	return result, err
}

// GiveBack ends the start that an earlier job of this run recorded, because
// nobody worked: it counts as no run and uses nothing. It does nothing when there
// is no such start.
func (s *Service) GiveBack(ctx context.Context) (Result, error) {
	run := s.begin()
	run.lease.joins = true
	return run.through(ctx, run.giveBack)
}

var errNothingToGiveBack = errors.New("no start is open")

func (r *run) giveBack(ctx context.Context) (Result, error) {
	err := r.update(ctx, r.Program.Name+": nothing was proposed", nil, func(b *records) error {
		b.iteration = b.sum.Iteration + 1
		if r.lease.joinHanded(b, ""); b.holdsLease() != nil {
			return errNothingToGiveBack
		}
		b.add(&history.Finished{Unused: true})
		return nil
	})
	if errors.Is(err, errNothingToGiveBack) {
		return r.result(history.Idle, decision.Say("nothing was proposed, and no start of this run is open")), nil
	}
	if err != nil {
		return Result{}, err
	}
	return r.result(history.Idle, decision.Say("nothing was proposed; the start counts as no run")), nil
}
