package loop

import (
	"context"
	"fmt"
	"time"

	"github.com/org/autoloop/internal/history"
)

// maxInterrupted is how many runs of one iteration may vanish before the
// program is paused: something in it kills them.
const maxInterrupted = 3

// leaseSlack is how long a lease outlives the iteration's time limit.
const leaseSlack = 5 * time.Minute

// acquireLease reads the books and takes the lease of the next iteration. A lease of a
// run that is gone, or that ran out, is free; its iteration is done again.
func (r *run) acquireLease(ctx context.Context) error {
	if r.DryRun {
		files, head, err := r.Memory.Read(ctx, r.Program.Name)
		if err != nil {
			return err
		}
		r.files, r.found, r.foundAt = files, files, head
	}
	name := r.Program.Name
	return r.update(ctx, fmt.Sprintf("%s: start", name), nil, r.enterStart)
}

// enterStart puts the lease into the books, unless another run holds one or the
// program takes no iteration.
func (r *run) enterStart(b *records) error {
	r.iteration = b.sum.Iteration + 1
	event := func(e history.Event) error { return r.add(b, e) }
	if holder := r.leaseHolder(b.sum.Open); holder != "" {
		r.records = b
		return &errBusy{holder}
	}
	if err := b.adopt(event); err != nil {
		return err
	}
	if err := b.readEdits(event); err != nil {
		return err
	}
	r.iteration = b.sum.Iteration + 1
	reason := r.blockedReason(b)
	if reason == "" && r.proposing && b.pending() != nil && r.GitHub == nil {
		reason = fmt.Sprintf("iteration %d waits for CI, which needs --repo and a token", b.sum.Iteration)
	}
	if reason != "" && !r.waitsForCI(b) {
		r.records, r.stopped = b, reason
		return &blockedError{reason}
	}
	r.warnings = b.warnings
	lease := r.Holder
	lease.Until = r.Now().Add(r.Program.Timeout + r.ciTime() + leaseSlack).UTC().Truncate(time.Second)
	return event(history.Event{Kind: history.Started, Iteration: r.iteration, Lease: &lease})
}

// ciTime is how long an iteration may wait for CI besides its own time.
func (r *run) ciTime() time.Duration {
	if r.GitHub == nil {
		return 0
	}
	return r.Program.CIWait
}

// leaseHolder says who holds a live lease, or "".
func (r *run) leaseHolder(open *history.Event) string {
	if open == nil || open.Lease == nil || open.Run == r.id {
		return ""
	}
	lease := *open.Lease
	if !r.Now().Before(lease.Until) || !r.Alive(lease) {
		return ""
	}
	by := fmt.Sprintf("process %d on %s", lease.PID, lease.Host)
	if lease.ActionsRun != "" {
		by = "Actions run " + lease.ActionsRun
	}
	return fmt.Sprintf("run %s (%s) works on it until %s at the latest", open.Run, by, lease.Until.Format(time.RFC3339))
}
