package loop

import (
	"cmp"
	"context"
	"errors"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
)

// journal reads and changes the records of a run's program.
type journal struct {
	*session
	store store
	// mayWrite says, in the step that writes, why this run may not.
	mayWrite func(*records) error
	records  *records     // as they were last read or written
	files    memory.Files // the same, as bytes
}

// open reads the records from the files.
func (r *journal) open(files memory.Files) error {
	b, err := openRecords(r.session, files)
	if err == nil {
		r.records, r.files = b, files
	}
	return err
}

// write changes the records, and the program branch with them, in one step, as
// long as this run may.
func (r *journal) write(ctx context.Context, message string, branch *git.RefUpdate, change func(*records) error) error {
	return r.update(ctx, message, branch, func(b *records) error {
		if err := r.mayWrite(b); err != nil {
			return err
		}
		return change(b)
	})
}

// holdsLease is an error when another run took the program over.
func (b *records) holdsLease() error {
	if b.sum.Open == nil || b.sum.Open.Run != b.id {
		return errLeaseLost
	}
	return nil
}

// update changes the records. The change is applied again to fresh records when
// another run wrote first.
func (r *journal) update(ctx context.Context, message string, branch *git.RefUpdate,
	change func(*records) error,
) error {
	var b *records // of the attempt that counts, the last
	apply := func(before memory.Files) (files memory.Files, err error) {
		if b, err = openRecords(r.session, before); err != nil {
			return files, err
		}
		err = change(b)
		if err = cmp.Or(b.err, err); err != nil {
			return files, err
		}
		b.written = b.files()
		return b.written, nil
	}
	u := memory.Update{Program: r.Program.Name, Message: message, Apply: apply, Branch: branch}
	if r.refusal == "" {
		u.Claims = r.ref()
	}
	_, err := r.store.Update(ctx, u)
	if files.Full(err) { // A tree that is kept for the next iteration may hold what filled the disk.
		r.Trees.Close()
		_, err = r.store.Update(ctx, u)
	}
	_, blocked := errors.AsType[*blockedError](err)
	switch {
	case err == nil:
		r.records, r.files, r.course = b, b.written, b.course
	case blocked, errors.Is(err, errNothingToGiveBack): // nothing may begin now
		r.records, r.course = b, b.course
	}
	return err
}

func (r *journal) result(outcome history.Outcome, reasons ...decision.Reason) Result {
	result := Result{
		Program: r.Program.Name, Iteration: r.iteration, Outcome: outcome, Reasons: reasons, RunID: r.id,
		Stopped: r.stopped, Warnings: r.warnings,
	}
	if r.records != nil {
		result.Initial, result.BestMetric = r.records.sum.Initial, r.records.sum.Best
	}
	return result
}
