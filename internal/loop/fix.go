package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
)

// maxFixes is how many times an agent may mend what CI found.
const maxFixes = 5

// failedPrefix is where the branch of an attempt stays that CI turned down for
// good.
const failedPrefix = "autoloop-failed/"

// fixes counts the attempts to mend an iteration for CI.
func (b *records) fixes(iteration int) int {
	count := 0
	for _, e := range b.log.Events {
		if e.Kind == history.Checked && e.Iteration == iteration {
			count++
		}
	}
	return count
}

// fixFailure lets an agent mend what CI found, on top of the candidate. It is
// done when the iteration is at its end: when the same failure is there again
// after a change, or after five attempts.
func (r *run) fixFailure(ctx context.Context, e history.Event, verdict ci.Verdict) (result Result, done bool, err error) {
	signature := verdict.Signature()
	if reason := r.fixesExhausted(e, signature); reason != "" {
		result, err = r.giveUpFix(ctx, e, verdict, reason)
		return result, true, err
	}
	reason := r.blockedReason(r.records)
	if r.publishing {
		reason = "CI turned it down, and publishing asks no agent: the next `iterate propose` lets one mend it"
	}
	left := r.time() - r.Now().Sub(r.begun)
	if left <= 0 || reason != "" {
		if reason != "" {
			verdict.Reasons = append([]ci.Reason{{Text: reason}}, verdict.Reasons...)
		}
		result, err = r.keepWaiting(ctx, e, "", verdict)
		return result, true, err
	}
	r.step("fix", fmt.Sprintf("attempt %d of %d: %s", r.records.fixes(e.Iteration)+1, maxFixes, signature))
	a, err := r.fix(ctx, e, verdict, left)
	if err != nil {
		return Result{}, false, err
	}
	if until, ok := r.postponedUntil(a); ok {
		result, err = r.postpone(ctx, a, until)
		return result, true, err
	}
	return Result{}, false, nil
}

// fixesExhausted says why no agent is asked to mend a failure any more, "" when one is.
func (r *run) fixesExhausted(e history.Event, signature string) string {
	switch {
	case r.sameFailure(e, signature):
		return "stuck in CI fix loop: " + signature
	case r.records.fixes(e.Iteration) >= maxFixes:
		return "ci-fix-exhausted: " + signature
	default:
		return ""
	}
}

// sameFailure says whether the failure was there already on another commit of the
// iteration: what was changed since did not help.
func (r *run) sameFailure(e history.Event, signature string) bool {
	return slices.ContainsFunc(r.records.log.Events, func(before history.Event) bool {
		return before.Kind == history.Checked && before.Iteration == e.Iteration && before.Commit != e.Commit && before.Reason == signature
	})
}

// fix asks the agent, measures what it did against the incumbent like any other
// candidate, and puts what passes on top of the branch.
func (r *run) fix(ctx context.Context, e history.Event, verdict ci.Verdict, left time.Duration) (*attempt, error) {
	r.fixing = e
	at, err := r.positionOf(ctx, e)
	if err != nil {
		return nil, err
	}
	checked := history.Event{Kind: history.Checked, Iteration: e.Iteration, Commit: e.Commit, Reason: verdict.Signature(), Reasons: verdict.Words()}
	a, err := r.proposeFix(ctx, at, e, verdict, left)
	if err != nil {
		return nil, err
	}
	a.evaluation = r.takeExpense()
	if _, later := r.postponedUntil(a); later {
		return a, nil
	}
	if a.outcome != history.Accepted {
		checked.Problem = state.Inline(a.reasons[0], 300)
		checked.Agent, checked.Usage, checked.Durations, checked.Evaluation = r.nameOf(a), a.totalUsage(), a.totalDurations(), a.evaluation
		return a, r.write(ctx, fmt.Sprintf("%s: iteration %d, a fix for CI failed", r.Program.Name, e.Iteration), nil, func(b *records) error {
			return r.add(b, checked)
		})
	}
	if err := r.enterFix(ctx, at, e, checked, a); err != nil {
		return nil, err
	}
	r.publishPending(ctx)
	return a, nil
}

// proposeFix is one proposal that begins with the candidate's files and is told what
// CI said. An error of its own time limit is its failure.
func (r *run) proposeFix(ctx context.Context, at position, e history.Event, verdict ci.Verdict, left time.Duration) (*attempt, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, left, errTooLong)
	defer cancel()
	a := &attempt{number: 1, of: 1, agent: r.Agent, model: r.Model, durations: map[string]float64{}, lineage: lineage{from: e.Commit}, failure: verdict.Report()}
	err := r.propose1(bounded, at, a)
	if errors.Is(context.Cause(bounded), errTooLong) && ctx.Err() == nil {
		return a.end(history.Error, "the time of the iteration is up"), nil
	}
	return a, err
}

// propose1 goes with one attempt through all stages.
func (r *run) propose1(ctx context.Context, at position, a *attempt) error {
	all := []*attempt{a}
	defer func() {
		if a.proposed != nil {
			_ = a.proposed.Remove()
		}
	}()
	if err := r.ask(ctx, at, all); err != nil {
		return err
	}
	if err := r.consider(ctx, at, a, map[string]int{}); err != nil {
		return err
	}
	return r.measureAll(ctx, at, all)
}

// positionOf is where the pending iteration stands: measured against the
// incumbent that it was measured against before.
func (r *run) positionOf(ctx context.Context, e history.Event) (position, error) {
	at := position{Head: e.Parent, Old: e.Commit, Base: r.records.sum.Base, BaseBranch: r.records.sum.BaseBranch}
	entries, err := r.entries(ctx, at.Head)
	if err != nil {
		return at, err
	}
	at.entries = entries
	at.identity, err = r.identify(entries)
	return at, err
}

// giveUpFix takes the branch back to the last accepted commit, keeps the attempt
// on a branch of its own, and pauses.
func (r *run) giveUpFix(ctx context.Context, e history.Event, verdict ci.Verdict, reason string) (Result, error) {
	kept := git.RefUpdate{Ref: fmt.Sprintf("refs/heads/%s%s/%d", failedPrefix, r.Program.Name, e.Iteration), New: e.Commit}
	if err := r.keepFailed(ctx, kept); err != nil {
		r.warn("the attempt is not kept at %s: %v", kept.Ref, err)
	}
	e.Reasons = append([]string{reason}, verdict.Words()...)
	back := &git.RefUpdate{Ref: r.ref(), New: e.Parent, Old: e.Commit}
	e.Outcome = history.CIFixExhausted
	return r.recordFinal(ctx, e, back, reason+"; look at the attempt on "+failedPrefix+r.Program.Name+fmt.Sprintf("/%d", e.Iteration)+", then set Paused to false")
}

// keepFailed makes the branch of a failed attempt; that it is there already is
// fine.
func (r *run) keepFailed(ctx context.Context, kept git.RefUpdate) error {
	if r.Memory.Remote == "" {
		if there, found, err := r.Repo.Resolve(ctx, kept.Ref); err != nil || found && there == kept.New {
			return err
		}
		return r.Repo.UpdateRefs(ctx, "autoloop: CI turned it down", kept)
	}
	refs, err := r.Repo.LsRemote(ctx, r.Memory.Remote, kept.Ref)
	if err != nil || refs[kept.Ref] == kept.New {
		return err
	}
	kept.Old = refs[kept.Ref]
	return r.Repo.Push(ctx, r.Memory.Remote, kept)
}
