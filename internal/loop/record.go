package loop

import (
	"context"
	"fmt"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
)

// maxErrors is how many errors in a row pause a program.
const maxErrors = 3

// record writes the attempt: its commit onto the program branch and its events,
// row and history entry onto the memory branch, both or neither.
func (r *run) record(ctx context.Context, at position, a *attempt) (Result, error) {
	commit := ""
	update := at.branchUpdate(r.ref())
	if a.outcome == history.Accepted {
		var err error
		if commit, err = r.commit(ctx, at, a); err != nil {
			return Result{}, err
		}
		update = &git.RefUpdate{Ref: r.ref(), New: commit, Old: at.Old}
	}
	r.step("record", string(a.outcome))
	message := fmt.Sprintf("%s: iteration %d %s", r.Program.Name, r.iteration, a.outcome)
	err := r.write(ctx, message, update, func(b *records) error { return r.enter(b, at, a, commit) })
	if err != nil {
		return Result{}, err
	}
	return r.report(a, commit), nil
}

// enter puts the attempt into the books.
func (r *run) enter(b *records, at position, a *attempt, commit string) error {
	if err := r.enterOthers(b, at, a); err != nil {
		return err
	}
	return r.enterDecided(b, a, r.decided(b, at, a, commit))
}

// enterDecided puts the decision into the books, with all that follows from it.
func (r *run) enterDecided(b *records, a *attempt, decided history.Event) error {
	if err := r.add(b, decided); err != nil {
		return err
	}
	if decided.Commit != "" {
		pushed := history.Event{Kind: history.Pushed, Iteration: r.iteration, Commit: decided.Commit, Parent: decided.Parent, Branch: r.branch()}
		if err := r.add(b, pushed); err != nil {
			return err
		}
	}
	if err := r.enterRow(b, a); err != nil {
		return err
	}
	b.doc.AddEntry(r.entry(b, a, decided))
	for _, one := range a.all() {
		b.enterNotes(r.iteration, one.notes)
	}
	if err := r.consumed(b); err != nil {
		return err
	}
	if err := r.add(b, history.Event{Kind: history.Finished, Iteration: r.iteration, Outcome: a.outcome}); err != nil {
		return err
	}
	return r.consequences(b)
}

func (r *run) decided(b *records, at position, a *attempt, commit string) history.Event {
	e := history.Event{
		Kind: history.Decided, Iteration: r.iteration, Outcome: a.outcome, Reasons: a.reasons, PreviousBest: b.sum.Best, Best: b.sum.Best,
		Parent: at.Head, Commit: commit, Agent: r.nameOf(a), Model: r.modelOf(a), Summary: a.reply.Summary,
		Changed: a.changed[:min(len(a.changed), 100)], Params: a.reply.Params, Durations: a.totalDurations(), Digest: a.digest, Focus: a.focus, Direction: r.Program.Direction,
		Target: r.target(b), Evaluator: at.identity.Evaluator, Definition: at.identity.Definition, Usage: a.totalUsage(),
	}
	e.Noisy, e.Rule, e.Evaluation = a.noisy, a.rule, a.evaluation
	if a.of > 1 {
		e.Proposal = a.number
	}
	e.Lessons, e.Foreclosed, e.Ideas = a.notes.Lessons, a.notes.Foreclosed, a.notes.Ideas
	if a.verdict != nil {
		d := &a.decision
		e.Verdict, e.Metric, e.PreviousBest, e.Best, e.Delta = string(d.Verdict), d.Metric, d.Previous, d.Best, d.Delta
		e.Evidence, e.Warning = history.EvidenceOf(d.Evidence), d.Warning
	}
	return e
}

func (r *run) enterRow(b *records, a *attempt) error {
	row := results.Row{Iteration: r.iteration, Time: r.Now(), Action: results.Reverted, Changelog: changelog(a)}
	if a.outcome == history.Accepted {
		row.Action = results.Kept
	}
	if a.verdict != nil {
		row.Score = a.decision.Metric
	}
	return b.table.Append(row, r.Program.Direction)
}

// changelog is the agent's summary, and why it was not kept.
func changelog(a *attempt) string {
	text := a.reply.Summary
	if a.outcome == history.Accepted || len(a.reasons) == 0 {
		return text
	}
	if text != "" {
		text += " — "
	}
	return text + a.reasons[0]
}

func (r *run) entry(b *records, a *attempt, decided history.Event) state.Entry {
	entry := state.Entry{
		Iteration: r.iteration, Time: r.begun, RunURL: r.RunURL, Status: state.Status(a.outcome), Change: a.reply.Summary,
		Metric: decided.Metric, PreviousBest: decided.PreviousBest, Delta: decided.Delta, Notes: a.reasons,
	}
	if decided.Commit != "" {
		entry.Commit, entry.PR = decided.Commit[:12], b.pull()
	}
	return entry
}

// consequences pauses or completes the program when the rules say so.
func (r *run) consequences(b *records) error {
	if err := r.completeAtTarget(b); err != nil || b.sum.Completed != "" {
		return err
	}
	if errors := b.sum.ConsecutiveErrors(); errors >= maxErrors {
		return r.pause(b, fmt.Sprintf("%d errors in a row; see the history, mend the cause, then set Paused to false", errors))
	}
	if limit := r.Program.PlateauFor(r.Agent.Name()); limit > 0 && b.sum.Trailing(history.Rejected) >= limit {
		return r.pause(b, fmt.Sprintf("plateau: %d rejections in a row; change the goal or the target, then set Paused to false", limit))
	}
	return nil
}

func (r *run) completeAtTarget(b *records) error {
	if b.sum.Best == nil || b.sum.Completed != "" {
		return nil
	}
	target := r.target(b)
	if !r.Program.Direction.TargetMet(*b.sum.Best, target) {
		return nil
	}
	reason := fmt.Sprintf("target reached: %s with target %s (%s is better)", b.sum.Best, target, r.Program.Direction)
	if err := r.add(b, history.Event{Kind: history.Completed, Iteration: b.sum.Iteration, Reason: reason}); err != nil {
		return err
	}
	b.machine.Completed, b.machine.CompletedReason = true, reason
	r.stopped = "completed: " + reason
	return nil
}

func (r *run) pause(b *records, reason string) error {
	if err := r.add(b, history.Event{Kind: history.Paused, Iteration: b.sum.Iteration, Reason: reason}); err != nil {
		return err
	}
	b.machine.Paused, b.machine.PauseReason = true, reason
	r.stopped = "paused: " + reason
	return nil
}

// fail records an iteration that could not be run as an error, and pauses the
// program at once when a person is needed.
func (r *run) fail(ctx context.Context, at position, reason string, needsPerson bool) (Result, error) {
	a := r.interruptedAttempt(reason)
	err := r.write(ctx, fmt.Sprintf("%s: iteration %d error", r.Program.Name, r.iteration), nil, func(b *records) error {
		if err := r.enter(b, at, a, ""); err != nil || !needsPerson || r.stopped != "" {
			return err
		}
		return r.pause(b, reason)
	})
	if err != nil {
		return Result{}, err
	}
	return r.report(a, ""), nil
}

// finish gives the lease back when no iteration is left to run.
func (r *run) finish(ctx context.Context) (Result, error) {
	err := r.write(ctx, r.Program.Name+": "+r.stopped, nil, func(b *records) error {
		if err := r.consumed(b); err != nil {
			return err
		}
		return r.add(b, history.Event{Kind: history.Finished, Iteration: b.sum.Iteration})
	})
	if err != nil {
		return Result{}, err
	}
	return r.idle(), nil
}

// idle is the result of a run in which the baseline was the last word. A bundle
// of it is still of the iteration that began.
func (r *run) idle() Result {
	result := r.result(history.Idle, r.stopped)
	result.Iteration = r.records.sum.Iteration
	return result
}

func (r *run) report(a *attempt, commit string) Result {
	outcome := a.outcome
	if r.DryRun && !r.proposing {
		outcome = history.DryRun
	}
	result := r.result(outcome, a.reasons...)
	result.Verdict = a.verdict
	if a.verdict != nil {
		result.Metric, result.Delta, result.Evidence = a.decision.Metric, text(a.decision.Delta), history.EvidenceOf(a.decision.Evidence)
	}
	result.Noisy, result.Samples = a.noisy, a.samples
	if !r.DryRun {
		result.Commit = text(commit)
	}
	result.Summary, result.Transcript = a.reply.Summary, a.reply.Transcript
	return result
}
