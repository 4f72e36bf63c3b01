package loop

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
)

// The polling of CI: the pauses grow up to the last.
const (
	firstPoll = 10 * time.Second
	lastPoll  = time.Minute
)

// pending is the decision that still waits for CI, nil when there is none.
func (b *records) pending() *history.Event {
	for i := len(b.log.Events) - 1; i >= 0; i-- {
		if e := &b.log.Events[i]; e.Kind == history.Decided && e.Proposal == 0 || e.Kind == history.Decided && e.Outcome == history.PendingCI {
			if e.Outcome == history.PendingCI {
				return e
			}
			return nil
		}
	}
	return nil
}

// waitsForCI says whether all that this run may do is to ask CI about an iteration.
func (r *run) waitsForCI(b *records) bool {
	return b.pending() != nil && r.GitHub != nil && (!r.DryRun || r.proposing)
}

// recordPending puts a candidate that passed onto the branch, without taking it for the
// incumbent: that is CI's to say.
func (r *run) recordPending(ctx context.Context, at position, a *attempt) (Result, error) {
	a.outcome = history.PendingCI
	commit, err := r.commit(ctx, at, a)
	if err != nil {
		return Result{}, err
	}
	r.step("record", string(a.outcome))
	update := &git.RefUpdate{Ref: r.ref(), New: commit, Old: at.Old}
	message := fmt.Sprintf("%s: iteration %d waits for CI", r.Program.Name, r.iteration)
	err = r.write(ctx, message, update, func(b *records) error {
		if err := r.enterOthers(b, at, a); err != nil {
			return err
		}
		decided := r.decided(b, at, a, commit)
		if err := r.enterPending(b, decided); err != nil {
			return err
		}
		for _, one := range a.all() {
			b.enterNotes(r.iteration, one.notes)
		}
		return r.consumed(b)
	})
	if err != nil {
		return Result{}, err
	}
	return r.waitForCI(ctx)
}

func (r *run) enterPending(b *records, decided history.Event) error {
	if err := r.add(b, decided); err != nil {
		return err
	}
	pushed := history.Event{Kind: history.Pushed, Iteration: decided.Iteration, Commit: decided.Commit, Parent: decided.Parent, Branch: r.branch()}
	if err := r.add(b, pushed); err != nil {
		return err
	}
	b.doc.AddEntry(r.entryOf(b, decided))
	return nil
}

// waitForCI asks CI about the pending iteration until it knows, or until this
// run's patience ends: then a later run goes on.
func (r *run) waitForCI(ctx context.Context) (Result, error) {
	deadline, pause := r.Now().Add(r.Program.CIWait), firstPoll
	r.publishPending(ctx)
	for {
		e := *r.records.pending()
		r.iteration = e.Iteration
		r.step("ci", fmt.Sprintf("commit %.12s", e.Commit))
		verdict := r.verdict(ctx, e)
		late := r.comments == nil || !r.Now().Before(deadline)
		switch {
		case verdict.State == ci.Moved:
			return r.overtaken(ctx, e, verdict)
		case verdict.State == ci.Green:
			return r.recordGreen(ctx, e, verdict)
		case r.Program.CIGate == "off", verdict.Seen == 0 && !r.ciRequired(ctx, r.records.sum.Base):
			e.Outcome = history.Accepted
			return r.recordFinal(ctx, e, nil, "")
		case verdict.State == ci.Red, late && len(verdict.Failing) > 0:
			result, done, err := r.fixFailure(ctx, e, verdict)
			if done || err != nil {
				return result, err
			}
			deadline, pause = r.Now().Add(r.Program.CIWait), firstPoll
			continue
		case verdict.Seen >= 0 && r.Now().Sub(r.pushedAt(e)) >= r.Program.CITimeout:
			return r.keepWaiting(ctx, e, r.timedOut(e, verdict), verdict)
		case late:
			return r.keepWaiting(ctx, e, "", verdict)
		}
		if err := r.Sleep(ctx, min(pause, deadline.Sub(r.Now()))); err != nil {
			return Result{}, err
		}
		pause = min(pause*3/2, lastPoll)
	}
}

// timedOut says why nothing more is expected of CI, and what to do.
func (r *run) timedOut(e history.Event, verdict ci.Verdict) string {
	what := strings.Join(verdict.Words(), ", ")
	if verdict.Seen == 0 {
		what = "no check appeared"
	}
	return fmt.Sprintf("ci-timeout: after %s CI has no result for %.12s: %s; %s, or set `ci-gate: off`, then say `/autoloop resume`",
		r.Program.CITimeout, e.Commit, what, verdict.Cure())
}

// publishPending opens the pull request, since much of CI runs there alone, and
// starts the workflow that the program names.
func (r *run) publishPending(ctx context.Context) {
	if r.comments == nil || r.DryRun {
		return
	}
	if err := r.promote(ctx); err != nil {
		r.warn("the pull request is not up to date: %v", err)
	}
	e := r.records.pending()
	if r.Program.CIWorkflow == "" || r.records.sum.Settings[history.CIStarted] == e.Commit {
		return
	}
	if err := r.GitHub.Dispatch(ctx, r.Program.CIWorkflow, r.branch()); err != nil {
		r.warn("workflow %s was not started: %v", r.Program.CIWorkflow, err)
		return
	}
	err := r.write(ctx, r.Program.Name+": CI was started", nil, func(b *records) error { return r.set(b, history.CIStarted, e.Commit) })
	if err != nil {
		r.warn("that CI was started was not noted: %v", err)
	}
}

// verdict is what CI says now. What cannot be read is pending.
func (r *run) verdict(ctx context.Context, e history.Event) ci.Verdict {
	at := ci.Candidate{Commit: e.Commit, Base: r.records.sum.Base, BaseBranch: r.records.sum.BaseBranch}
	at.Branch.Commit, at.Branch.Err = r.Memory.HeadOf(ctx, r.ref())
	return r.GitHub.CI(ctx, at)
}

// pushedAt is when the pending commit was put onto the branch.
func (r *run) pushedAt(e history.Event) time.Time {
	for _, pushed := range r.records.log.Events {
		if pushed.Kind == history.Pushed && pushed.Commit == e.Commit {
			return pushed.Time
		}
	}
	return e.Time
}

// recordGreen accepts the pending iteration.
func (r *run) recordGreen(ctx context.Context, e history.Event, verdict ci.Verdict) (Result, error) {
	e.Outcome = history.Accepted
	e.Reasons = append(e.Reasons, fmt.Sprintf("%s%d checks", ciGreen, verdict.Seen))
	return r.recordFinal(ctx, e, nil, "")
}

// overtaken ends an iteration whose branch somebody else moved while CI ran: what
// CI says of its commit is not about what is on the branch. Their commit stays,
// and the next iteration begins with it.
func (r *run) overtaken(ctx context.Context, e history.Event, verdict ci.Verdict) (Result, error) {
	e.Outcome = history.Rejected
	e.Reasons = append([]string{"not accepted: " + strings.Join(verdict.Words(), ", ") + "; the next iteration begins with what is there"}, e.Reasons...)
	return r.recordFinal(ctx, e, nil, "")
}

// keepWaiting ends the run with the iteration as it is. A reason pauses the program.
func (r *run) keepWaiting(ctx context.Context, e history.Event, pause string, verdict ci.Verdict) (Result, error) {
	reasons := append([]string{"CI did not answer yet; a later run goes on"}, verdict.Words()...)
	err := r.write(ctx, fmt.Sprintf("%s: iteration %d still waits for CI", r.Program.Name, e.Iteration), nil, func(b *records) error {
		if err := r.add(b, history.Event{Kind: history.Finished, Iteration: e.Iteration, Outcome: history.PendingCI}); err != nil {
			return err
		}
		if err := r.consumed(b); err != nil || pause == "" || b.machine.Paused {
			return err // who was told once is not told again
		}
		return r.pause(b, pause)
	})
	if err != nil {
		return Result{}, err
	}
	return r.resultOf(e, reasons), nil
}

// recordFinal records the last word on an iteration that waited for CI, and moves
// the branch with it.
func (r *run) recordFinal(ctx context.Context, e history.Event, branch *git.RefUpdate, pause string) (Result, error) {
	err := r.write(ctx, fmt.Sprintf("%s: iteration %d %s", r.Program.Name, e.Iteration, e.Outcome), branch, func(b *records) error {
		decided := e
		if e.Outcome != history.Accepted {
			decided.Best, decided.Commit = b.sum.Best, ""
		}
		if err := r.add(b, decided); err != nil {
			return err
		}
		row := results.Row{Iteration: e.Iteration, Time: r.Now(), Score: e.Metric, Action: results.Reverted, Changelog: e.Summary}
		if e.Outcome == history.Accepted {
			row.Action = results.Kept
		}
		if err := b.table.Append(row, r.Program.Direction); err != nil {
			return err
		}
		b.doc.AddEntry(r.entryOf(b, decided))
		if err := r.consumed(b); err != nil {
			return err
		}
		if err := r.add(b, history.Event{Kind: history.Finished, Iteration: e.Iteration, Outcome: e.Outcome}); err != nil {
			return err
		}
		if err := r.consequences(b); err != nil || pause == "" {
			return err
		}
		return r.endEmptyPull(b, pause)
	})
	if err != nil {
		return Result{}, err
	}
	return r.resultOf(e, e.Reasons), nil
}

// endEmptyPull pauses, and notes that a pull request without a commit of its
// own has ended by our hand.
func (r *run) endEmptyPull(b *records, pause string) error {
	if number := b.sum.Settings[history.PullNumber]; number != "" && b.sum.Incumbent == b.sum.Base {
		if err := r.set(b, history.PullEnded, number); err != nil {
			return err
		}
	}
	return r.pause(b, pause)
}

func (r *run) entryOf(b *records, e history.Event) state.Entry {
	entry := state.Entry{
		Iteration: e.Iteration, Time: r.begun, RunURL: r.RunURL, Status: state.Status(e.Outcome), Change: e.Summary,
		Metric: e.Metric, PreviousBest: e.PreviousBest, Delta: e.Delta, Notes: e.Reasons, CIFixAttempts: b.fixes(e.Iteration), PR: b.pull(),
	}
	if e.Commit != "" {
		entry.Commit = e.Commit[:12]
	}
	return entry
}

func (r *run) resultOf(e history.Event, reasons []string) Result {
	r.iteration = e.Iteration
	result := r.result(e.Outcome, reasons...)
	result.Metric, result.Delta, result.Evidence, result.Summary = e.Metric, text(e.Delta), e.Evidence, e.Summary
	if e.Outcome != history.CIFixExhausted {
		result.Commit = text(e.Commit)
	}
	return result
}
