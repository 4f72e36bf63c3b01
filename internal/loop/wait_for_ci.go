package loop

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
)

// The polling of CI: the pauses grow up to the last.
const (
	firstPoll = 10 * time.Second
	lastPoll  = time.Minute
)

type ciGate struct {
	*journal
	thread   *thread
	branches *branches
	recorder *recorder
	spending *spending
	repo     *git.Repo
	memory   *memory.Memory
	sleep    func(ctx context.Context, d time.Duration) error
	fixer    fixer // proposes fixes for what CI found
}

// waitsForCI reports whether all that this run may do is to ask CI about an
// iteration.
func (r *thread) waitsForCI(b *records) bool {
	return b.standing().Phase == history.PhaseWaitingForCI && r.github != nil
}

// enterPending puts a candidate that passed its trial into the records without
// making it the incumbent: CI decides that.
func (r *recorder) enterPending(b *records, decided history.Decided) error {
	if err := r.add(b, &decided); err != nil {
		return err
	}
	pushed := &history.Pushed{Head: history.Head{Iteration: decided.Iteration}, Commit: decided.Commit, Parent: decided.Parent, Branch: r.branch()}
	return r.add(b, pushed)
}

// waitForCI reads CI until it has decided over the pending iteration, or until this
// run stops waiting: then a later run goes on.
func (r *ciGate) waitForCI(ctx context.Context) (Result, error) {
	deadline, pause := r.now().Add(r.program.CIWait), firstPoll
	if e := *r.records.standing().Decision; r.thread.merged(e.Commit) {
		return r.recordMerged(ctx, e)
	}
	if result, ended, err := r.replayPending(ctx, *r.records.standing().Decision); err != nil || ended {
		return result, err
	}
	r.publishPending(ctx)
	for {
		standing := r.records.standing()
		e := *standing.Decision
		r.iteration = e.Iteration
		r.step("ci", fmt.Sprintf("commit %.12s", e.Commit))
		verdict := r.verdict(ctx, e)
		late := r.thread.comments == nil || !r.now().Before(deadline)
		switch {
		case verdict.State == ci.Moved:
			return r.overtaken(ctx, e, verdict)
		case verdict.State == ci.Green:
			return r.recordGreen(ctx, e, verdict)
		case r.program.CIGate == "off", verdict.Seen == 0 && !r.ciRequired(ctx, r.records.sum.Base):
			e.Outcome = history.Accepted
			return r.recordFinal(ctx, e, nil, nil)
		case verdict.State == ci.Red, late && len(verdict.Failing) > 0:
			result, done, err := r.fixFailure(ctx, e, verdict)
			if done || err != nil {
				return result, err
			}
			deadline, pause = r.now().Add(r.program.CIWait), firstPoll
			continue
		case r.now().Sub(standing.WaitsSince) >= r.program.CITimeout:
			return r.keepWaiting(ctx, e, r.timedOut(e, verdict), verdict)
		case late:
			return r.keepWaiting(ctx, e, nil, verdict)
		}
		if err := r.sleep(ctx, min(pause, deadline.Sub(r.now()))); err != nil {
			return Result{}, err
		}
		pause = min(pause*3/2, lastPoll)
	}
}

// timedOut says why nothing more is expected of CI, and what to do.
func (r *ciGate) timedOut(e history.Decided, verdict ci.Result) *decision.Reason {
	what := found(verdict)
	if verdict.Seen == 0 {
		what = []decision.Reason{{Kind: decision.CINothing}}
	}
	return &decision.Reason{Kind: decision.CITimeout, Term: r.program.CITimeout.String(), Path: fmt.Sprintf("%.12s", e.Commit), Because: what, Words: verdict.Cure()}
}

// publishPending opens the pull request, since much of CI runs there alone, and
// starts the workflow that the program names.
func (r *ciGate) publishPending(ctx context.Context) {
	if r.thread.comments == nil {
		return
	}
	if err := r.thread.promote(ctx); err != nil {
		r.warn("the pull request is not up to date: %v", err)
	}
	e := r.records.standing().Decision
	if r.program.CIWorkflow == "" || r.records.sum.CIStarted == e.Commit {
		return
	}
	if err := r.thread.github.Dispatch(ctx, r.program.CIWorkflow, r.branch()); err != nil {
		r.warn("workflow %s was not started: %v; it needs `on: workflow_dispatch` on the default branch, and the job `actions: write`", r.program.CIWorkflow, err)
		return
	}
	err := r.write(ctx, r.program.Name+": CI was started", nil, func(b *records) error { return r.set(b, history.CIStarted, e.Commit) })
	if err != nil {
		r.warn("that CI was started was not noted: %v", err)
	}
}

// verdict is what CI says now. What cannot be read is pending.
func (r *ciGate) verdict(ctx context.Context, e history.Decided) ci.Result {
	at := ci.Candidate{Commit: e.Commit, Base: r.checkedBase(ctx, r.records.sum.Base), BaseBranch: r.records.sum.BaseBranch}
	at.Branch.Commit, at.Branch.Err = r.memory.HeadOf(ctx, r.ref())
	if r.thread.merged(e.Commit) {
		at.Branch.Commit = e.Commit // it may be deleted
	}
	starts, _, elsewhere, err := r.workflows(ctx, r.records.sum.Base)
	at.Starts, at.Elsewhere = starts || err != nil, elsewhere
	return r.thread.github.CI(ctx, at)
}

// recordMerged settles an iteration that a person merged while CI ran: it is kept, and
// what CI says is told.
func (r *ciGate) recordMerged(ctx context.Context, e history.Decided) (Result, error) {
	pull := r.thread.comments.Pull.Number
	var says []decision.Reason
	if verdict := r.verdict(ctx, e); verdict.State == ci.Red {
		says = found(verdict)
	}
	e.Outcome = history.Accepted
	e.Reasons = append([]decision.Reason{{Kind: decision.MergedByHand, Count: pull, Because: says}}, e.Reasons...)
	return r.recordFinal(ctx, e, nil, nil)
}

func (r *ciGate) recordGreen(ctx context.Context, e history.Decided, verdict ci.Result) (Result, error) {
	e.Outcome = history.Accepted
	why := decision.Reason{Kind: decision.CIGreen, Count: verdict.Seen}
	if known := found(verdict); len(known) > 0 {
		why = decision.Reason{Kind: decision.CIAsBase, Because: known}
	}
	e.Reasons = append(e.Reasons, why)
	return r.recordFinal(ctx, e, nil, nil)
}

// overtaken ends an iteration whose branch somebody else moved while CI ran: what
// CI says of its commit is not about what is on the branch. Their commit stays,
// and the next iteration begins with it.
func (r *ciGate) overtaken(ctx context.Context, e history.Decided, verdict ci.Result) (Result, error) {
	e.Outcome = history.Rejected
	e.Reasons = append([]decision.Reason{{Kind: decision.CIMoved, Because: found(verdict)}}, e.Reasons...)
	return r.recordFinal(ctx, e, nil, nil)
}

// keepWaiting ends the run while the iteration still waits. A reason pauses the
// program.
func (r *ciGate) keepWaiting(ctx context.Context, e history.Decided, pause *decision.Reason, verdict ci.Result) (Result, error) {
	reasons := append([]decision.Reason{decision.Say("CI did not answer yet; a later run goes on")}, found(verdict)...)
	err := r.write(ctx, fmt.Sprintf("%s: iteration %d still waits for CI", r.program.Name, e.Iteration), nil, func(b *records) error {
		if err := r.add(b, &history.Finished{Head: history.Head{Iteration: e.Iteration}, Outcome: history.PendingCI}); err != nil {
			return err
		}
		if err := r.thread.consumed(b); err != nil || pause == nil || b.machine.Paused {
			return err // who was told once is not told again
		}
		return r.pause(b, *pause)
	})
	if err != nil {
		return Result{}, err
	}
	e.Failing = failing(verdict)
	return r.recorder.resultOfCI(e, reasons), nil
}

// recordFinal records the final decision on an iteration that waited for CI, and
// moves the branch with it.
func (r *ciGate) recordFinal(ctx context.Context, e history.Decided, branch *git.RefUpdate, pause *decision.Reason) (Result, error) {
	err := r.write(ctx, fmt.Sprintf("%s: iteration %d %s", r.program.Name, e.Iteration, e.Outcome), branch, func(b *records) error {
		decided := e
		if e.Outcome != history.Accepted {
			decided.Best, decided.Commit = b.sum.Best, ""
		}
		if err := r.add(b, &decided); err != nil {
			return err
		}
		if b.sum.Paused != nil && b.sum.Paused.Is(decision.CITimeout) { // CI has answered
			if err := r.goOn(b, e.Reasons[len(e.Reasons)-1]); err != nil {
				return err
			}
		}
		if err := r.recorder.enterFinished(b, decided); err != nil || pause == nil {
			return err
		}
		return r.endEmptyPull(b, *pause)
	})
	if reason := pushRefusal(err); reason != nil && branch != nil {
		both := *pause
		both.Because = append(slices.Clip(both.Because), *reason)
		return r.recordFinal(ctx, e, nil, &both)
	}
	if err != nil {
		return Result{}, err
	}
	return r.recorder.resultOfCI(e, e.Reasons), nil
}

// endEmptyPull pauses, and notes that a pull request without a commit of its
// own has ended by our hand.
func (r *ciGate) endEmptyPull(b *records, pause decision.Reason) error {
	if b.sum.Pull > 0 && b.sum.Incumbent == b.sum.Base {
		if err := r.set(b, history.PullEnded, strconv.Itoa(b.sum.Pull)); err != nil {
			return err
		}
	}
	return r.pause(b, pause)
}

// resultOfCI is the result of an iteration that waits, or waited, for CI.
func (r *recorder) resultOfCI(e history.Decided, reasons []decision.Reason) Result {
	r.iteration = e.Iteration
	result := r.result(e.Outcome, reasons...)
	result.Metric, result.Delta, result.Evidence, result.Summary, result.Failing = e.Metric, text(e.Delta), e.Evidence, e.Summary, e.Failing
	if e.Outcome != history.CIFixExhausted {
		result.Commit = text(e.Commit)
	}
	return result
}

// isRed reports whether CI is known to have failed for the pending commit: also
// when a part of it failed and the rest did not end in time.
func (r *ciGate) isRed(s history.Standing, verdict ci.Result) bool {
	return verdict.State == ci.Red || len(verdict.Failing) > 0 && r.now().Sub(s.WaitsSince) >= r.program.CIWait
}
