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

// take reads the books and takes the lease of the next iteration. A lease of a
// run that is gone, or that ran out, is free; its iteration is done again.
func (r *run) take(ctx context.Context) error {
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
func (r *run) enterStart(b *books) error {
	r.iteration = b.sum.Iteration + 1
	event := func(e history.Event) error { return r.add(b, e) }
	if holder := r.holder(b.sum.Open); holder != "" {
		r.books = b
		return &errBusy{holder}
	}
	if err := b.adopt(event); err != nil {
		return err
	}
	if err := b.heed(event); err != nil {
		return err
	}
	r.iteration = b.sum.Iteration + 1
	reason := r.held(b)
	if reason == "" && r.proposing && b.pending() != nil && r.Front == nil {
		reason = fmt.Sprintf("iteration %d waits for CI, which needs --repo and a token", b.sum.Iteration)
	}
	if reason != "" && !r.settles(b) {
		r.books, r.stopped = b, reason
		return &heldError{reason}
	}
	r.warnings = b.warnings
	lease := r.Holder
	lease.Until = r.Now().Add(r.Program.Timeout + r.ciTime() + leaseSlack).UTC().Truncate(time.Second)
	return event(history.Event{Kind: history.Started, Iteration: r.iteration, Lease: &lease})
}

// ciTime is how long an iteration may wait for CI besides its own time.
func (r *run) ciTime() time.Duration {
	if r.Front == nil {
		return 0
	}
	return r.Program.CIWait
}

// holder says who holds a live lease, or "".
func (r *run) holder(open *history.Event) string {
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
