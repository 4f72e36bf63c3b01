package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// maxInterrupted is how many runs of one iteration may vanish before the
// program is paused: something in it kills them.
const maxInterrupted = 3

// leaseSlack is how long a lease outlives the iteration's time limit, handedSlack
// how long one does that is for other jobs, which may have to wait for a runner.
const (
	leaseSlack  = 5 * time.Minute
	handedSlack = 3 * time.Hour
)

// errNoStart says that an agent would work without a trace.
var errNoStart = errors.New("no start is recorded for this run, so that it would leave no trace if it dies: " +
	"let a job that may write run `iterate job begin` first, as the workflows of `iterate init` do, and run all jobs again")

// acquireLease reads the records and takes the lease of the next iteration. A lease
// whose run is gone, or whose time is over, is free; its iteration runs again.
func (r *run) acquireLease(ctx context.Context) error {
	return r.update(ctx, "start", nil, r.enterStart)
}

// enterStart records the lease, unless another run holds one or the program may
// not run now.
func (r *run) enterStart(b *records) error {
	b.iteration = b.Iteration + 1
	r.joinHanded(b, "")
	if err := r.requireNoLease(b); err != nil {
		return err
	}
	if err := r.mayBegin(b); err != nil {
		return err
	}
	r.note(b.warnings...)
	joined := b.holdsLease() == nil
	switch {
	case r.joins && joined:
		return nil
	case r.joins && r.MustReserve:
		return errNoStart
	case r.joins: // the job that records starts has not looked at this either
		if err := r.Program.GateRefusal(r.GitHub != nil).Err(); err != nil {
			return err
		}
	}
	lease := r.Holder
	lasts := r.Program.Timeout + leaseSlack
	if r.GitHub != nil {
		lasts += r.Program.CIWait
	}
	if lease.Handed {
		lasts += handedSlack
	}
	lease.Until = r.Now().Add(lasts).UTC().Truncate(time.Second)
	start := &history.Started{Head: history.Head{Iteration: b.iteration}, Lease: &lease}
	if !joined {
		start.Reserved = r.reserved(b.left)
	}
	b.add(start)
	return nil
}

// mayBegin is an error when no iteration may begin now. A program whose
// iteration waits for CI may always ask.
func (r *run) mayBegin(b *records) error {
	if b.Waiting() != nil && r.GitHub == nil {
		b.stopped = program.WaitsForCI
		return idle(b.stopped)
	}
	resting := b.machine.Stopped(r.Program.Name)
	if resting != "" {
		resting += ", or give --force"
	}
	if resting != "" && r.Force && !b.pausedSince(b.since) {
		b.set(history.Forced, resting)
		resting = ""
	}
	reason := cmp.Or(resting, r.blockedReason(b))
	if reason == "" || r.asksCI(b) {
		return nil
	}
	b.stopped = reason
	return &endedError{outcome: history.Idle, reasons: []decision.Reason{decision.Say(reason)}, resting: resting != ""}
}

// joinHanded makes the open start this run's own when an earlier job of the same
// run of Actions recorded it for this one, or when it is that of a bundle.
func (r *run) joinHanded(b *records, bundle string) {
	open := b.Open
	switch {
	case open == nil:
	case bundle != "" && open.Run == bundle,
		bundle == "" && r.joins && open.Lease != nil && open.Lease.Handed &&
			open.Lease.ActionsRun == r.Holder.ActionsRun:
		b.id = open.Run
	}
}

// pausedSince reports whether the last pause came after a time, or from this run.
func (b *records) pausedSince(at time.Time) bool {
	for _, e := range slices.Backward(b.log.Events) {
		if e, is := e.(*history.Paused); is {
			return e.Run == b.id || e.Time.After(at)
		}
	}
	return false
}

// leaseHolder names the run that holds a live lease, or returns "".
func (r *run) leaseHolder(b *records) string {
	open := b.Open
	if open == nil || open.Lease == nil || open.Run == b.id {
		return ""
	}
	lease := *open.Lease
	if lease.Handed && r.aside || !r.Now().Before(lease.Until) || !r.Alive(lease) {
		return ""
	}
	by := fmt.Sprintf("process %d on %s", lease.PID, lease.Host)
	if lease.Handed {
		by = "`iterate job begin`"
	}
	if lease.ActionsRun != "" {
		by = "Actions run " + lease.ActionsRun
	}
	return fmt.Sprintf("run %s (%s) works on it until %s at the latest", open.Run, by, lease.Until.Format(time.RFC3339))
}

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
	result, err := run.through(ctx, run.reserve)
	made := Reservation{Program: s.Program.Name, Iteration: result.Iteration, Warnings: result.Warnings}
	if err != nil || run.stopped != "" || result.Outcome != "" {
		made.Reason = cmp.Or(run.stopped, decision.Joined(result.Reasons))
		return made, err
	}
	made.Begun, made.RunID = true, run.id
	return made, nil
}

// reserve takes the lease for another job. It ends without an outcome when it may begin.
func (r *run) reserve(ctx context.Context) error {
	if err := r.acquire(ctx); err != nil {
		return err
	}
	if r.records.Interrupted >= maxInterrupted {
		return r.pauseInterrupted(ctx)
	}
	return &endedError{}
}

// acquire takes the lease. A program that is paused or completed gets it when a
// comment ends that.
func (r *run) acquire(ctx context.Context) error {
	err := r.acquireLease(ctx)
	if end, is := endOf(err); !is || !end.resting || r.GitHub == nil {
		return err
	}
	r.mayWrite = r.requireNoLease
	if err := r.readComments(ctx); err != nil {
		return err
	}
	r.mayWrite = (*records).holdsLease
	return r.acquireLease(ctx)
}

// pauseInterrupted pauses a program whose runs keep vanishing, and says so where
// people look.
func (r *run) pauseInterrupted(ctx context.Context) error {
	if r.comments == nil {
		if err := r.readComments(ctx); err != nil {
			return err
		}
	}
	return r.failForPerson(ctx, decision.Reason{
		Kind: decision.Interrupted, Count: r.iteration,
		Of: r.records.Interrupted,
	})
}

// Chores does what a job that proposes leaves to the one that may write: it applies
// commands, reads CI, and records that the default branch does not merge. With nothing
// of that to do, or told to rest, it ends the start that an earlier job of this run recorded, because nobody worked: it
// counts as no run and uses nothing.
func (s *Service) Chores(ctx context.Context, rest bool) (render.Result, error) {
	run := s.begin()
	run.joins = true
	if rest {
		return run.through(ctx, run.giveBack)
	}
	return run.through(ctx, run.chores)
}

func (r *run) chores(ctx context.Context) error {
	begins, err := r.prepare(ctx)
	if begins {
		_, err = r.sync(ctx)
		if conflict := conflict(err); conflict != nil {
			return r.failForPerson(ctx, *conflict)
		}
	}
	end, is := endOf(err)
	if is && end.outcome == history.Idle && r.records.holdsLease() == nil || err == nil && begins {
		return r.giveBack(ctx)
	}
	return err
}

// giveBack ends the start of an earlier job of this run, if there is one.
func (r *run) giveBack(ctx context.Context) error {
	err := r.update(ctx, "nothing was proposed", nil, func(b *records) error {
		b.iteration = b.Iteration + 1
		if r.joinHanded(b, ""); b.holdsLease() != nil {
			return idle("nothing was proposed, and no start of this run is open")
		}
		b.add(&history.Finished{Unused: true})
		return nil
	})
	return cmp.Or(err, idle("nothing was proposed; the start counts as no run"))
}
