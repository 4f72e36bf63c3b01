package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/loop/proposal"
)

// run is one iteration under way.
type run struct {
	*Service
	id           string
	begun        time.Time
	since        time.Time // when the first iteration of this process began
	iteration    int
	records      *records
	files        memory.Files     // the books as they were last read or written
	trees        int              // how many directories this run has used
	left         budget.Left      // what the iteration may use
	used         used             // what it has used
	unrecorded   *history.Expense // the part of evaluations that no event has yet
	working      []*attempt       // whose agents were asked
	stopped      string
	warnings     []string
	comments     *commands.Heard // nil without GitHub, or when it is out of reach
	agentWasTold bool            // the agent was told what was heard
	before       time.Time       // the last run before this one
	withoutLease bool            // without a lease and without an iteration
	asked        bool            // somebody asked for an iteration now
	answered     map[string]bool
	// unanswered counts the answers that did not get through.
	unanswered         int
	at                 position      // where the work began
	found              memory.Files  // the books before a run that records nothing
	foundAt            string        // the memory branch's commit then
	proposing          bool          // what a run that records nothing came to is handed on
	offer              proposal.Kind // as what, "" for nothing
	fixing             history.Event // the pending iteration that an agent was to mend
	skipComments       bool          // comments are left to a later run
	firstUnreadComment time.Time     // the first comment that the agent was not told of, zero for none
	publishing         bool          // no code of the program or of an agent is run
}

// iterate goes through the stages. What ends it early is recorded as the
// iteration's outcome by the stage that found it.
func (r *run) iterate(ctx context.Context) (Result, error) {
	if err := r.acquireLease(ctx); err != nil {
		return Result{}, err
	}
	if r.records.sum.Interrupted >= maxInterrupted && !r.proposing {
		return r.fail(ctx, position{}, fmt.Sprintf("iteration %d was interrupted %d times in a row", r.iteration, r.records.sum.Interrupted), true)
	}
	if chore, err := r.readComments(ctx); err != nil {
		return Result{}, err
	} else if chore != "" {
		return r.leave(chore)
	}
	if r.stopped != "" {
		return r.finish(ctx)
	}
	if r.waitsForCI(r.records) {
		if r.proposing {
			return r.offerFix(ctx)
		}
		return r.waitForCI(ctx)
	}
	at, attempt, err := r.work(ctx)
	if r.at = at; r.proposing && at.Head != "" {
		r.offer = proposal.Iteration
	}
	var conflict *conflictError
	var baseline *baselineError
	switch {
	case errors.As(err, &conflict) && r.proposing:
		return r.leave(conflict.Error())
	case errors.As(err, &conflict):
		return r.fail(ctx, position{}, conflict.Error(), true)
	case errors.As(err, &baseline):
		return r.fail(ctx, at, baseline.Error(), false)
	case errors.Is(err, errTooLong) && ctx.Err() == nil:
		return r.fail(ctx, at, r.tooLong(), false)
	case err != nil:
		return Result{}, err
	case attempt == nil:
		return r.finish(ctx)
	}
	attempt.evaluation = r.takeExpense()
	if until, ok := r.postponedUntil(attempt); ok {
		return r.postpone(ctx, attempt, until)
	}
	if attempt.outcome == history.Accepted && r.ciRequired(ctx, at.Base) {
		return r.recordPending(ctx, at, attempt)
	}
	return r.record(ctx, at, attempt)
}

// errTooLong ends the work of an iteration whose time is up.
var errTooLong = errors.New("the time of the iteration is up")

// work is everything before the record, within the iteration's time: the lease
// outlives it. There is no attempt when nothing is left to do.
func (r *run) work(ctx context.Context) (position, *attempt, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.time(), errTooLong)
	defer cancel()
	r.step("sync", "")
	at, err := r.sync(ctx)
	if err != nil {
		return at, nil, err
	}
	if err := r.ensureBaseline(ctx, &at); err != nil || r.stopped != "" {
		return at, nil, err
	}
	if r.stopped = r.usedUp(); r.stopped != "" {
		return at, nil, nil
	}
	if problem := r.exceedsTimeLimit(r.records.sum.Seconds, r.records.sum.Prepare); r.Suite == nil && r.rule().Regime == decision.Noisy && problem != "" {
		return at, nil, &baselineError{problem}
	}
	r.agentWasTold = true
	attempt, err := r.attempt(ctx, at)
	return at, attempt, err
}

// write changes the books, and the program branch with them, in one step. The
// change is applied again to fresh books when another run was faster, as long
// as the lease is still ours. A dry run changes its own copy alone.
func (r *run) write(ctx context.Context, message string, branch *git.RefUpdate, change func(*records) error) error {
	return r.update(ctx, message, branch, func(b *records) error {
		if r.withoutLease {
			if err := r.requireNoLease(b); err != nil {
				return err
			}
			return change(b)
		}
		if b.sum.Open == nil || b.sum.Open.Run != r.id {
			return errLeaseLost
		}
		return change(b)
	})
}

func (r *run) update(ctx context.Context, message string, branch *git.RefUpdate, change func(*records) error) error {
	stopped := r.stopped
	apply := func(files memory.Files) (memory.Files, error) {
		r.stopped = stopped // a change that is applied again decides again
		b, err := openRecords(r.Program, files)
		if err != nil {
			return memory.Files{}, err
		}
		if err := change(b); err != nil {
			return memory.Files{}, err
		}
		written, err := b.files(r.Program, r.target(b))
		r.records, r.files = b, written
		return written, err
	}
	if r.DryRun {
		_, err := apply(r.files)
		return err
	}
	_, err := r.Memory.Update(ctx, memory.Update{Program: r.Program.Name, Message: message, Apply: apply, Branch: branch, Claims: r.ref()})
	return err
}

// add appends an event of this run to the books.
func (r *run) add(b *records, e history.Event) error {
	e.Run, e.Time = r.id, r.Now()
	if err := b.log.Append(e); err != nil {
		return err
	}
	b.sum = history.Replay(b.log.Events)
	return nil
}

func (r *run) step(name, detail string) { r.tell(name, detail, false) }

// minor is one of many steps alike.
func (r *run) minor(name, detail string) { r.tell(name, detail, true) }

func (r *run) tell(name, detail string, minor bool) {
	if r.Progress != nil {
		r.Progress(Step{Program: r.Program.Name, Iteration: r.iteration, Name: name, Detail: detail, Minor: minor})
	}
}

// newDir names a directory that this run has not used yet.
func (r *run) newDir(kind byte) string {
	r.trees++
	return r.dir(kind, r.trees)
}

func (r *run) result(outcome history.Outcome, reasons ...string) Result {
	result := Result{
		Program: r.Program.Name, Iteration: r.iteration, Outcome: outcome, Reasons: reasons, RunID: r.id,
		Stopped: r.stopped, Warnings: r.warnings,
	}
	if r.records != nil {
		result.Initial, result.BestMetric = r.records.sum.Initial, r.records.sum.Best
	}
	return result
}
