package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/plain"
)

// maxFixes is how many times an agent may try to fix what CI found.
const maxFixes = 5

// fix lets an agent fix what CI found, on top of the candidate. It ends the run
// when no agent may work now.
func (w *waiting) fix(ctx context.Context) error {
	reason, left := w.blockedReason(w.records), w.time()-w.Now().Sub(w.begun)
	if reason == "" && w.fixer == nil {
		reason = cmp.Or(
			w.refusal,
			"CI failed, and publishing asks no agent: the next `iterate job propose` lets one fix it",
		)
	}
	if reason == "" && left > 0 {
		if err := w.tryFix(ctx, left); err != nil {
			return err
		}
		if w.made.Kept() {
			w.publishPending(ctx)
		}
		if reason = w.stopped; reason == "" {
			return nil
		} // the remote did not take the fix
	}
	return w.keepWaiting(ctx, reason)
}

// tryFix has a fix proposed and records it: on top of the branch when it passed its
// trial, else as a failed attempt. So does one that verification refuses. It ends the run when no
// agent's service works.
func (w *waiting) tryFix(ctx context.Context, left time.Duration) (err error) {
	if w.from, w.made, err = w.fixer(ctx, w, left); err != nil {
		return err
	}
	w.describes(w.made)
	err = w.record(ctx, w.from, w.made)
	if refused, is := errors.AsType[*RefusedError](err); is && w.made.Decided != nil {
		w.made.FailFix(decision.Say(refused.Reason))
		err = w.record(ctx, w.from, w.made)
	}
	if err == nil && w.made.Postponed != nil {
		err = idle(w.stopped)
	}
	return err
}

// describes says which iteration a fix is of, and what CI says of that now.
func (w *waiting) describes(p *Proposal) {
	if p.Checked != nil {
		p.Checked.Commit, p.Checked.Signature, p.Checked.Reasons, p.Checked.Failing = w.e.Commit, w.ci.Signature(),
			w.ci.Reasons, failing(w.ci)
	}
	if p.Decided != nil {
		p.Decided.Summary, p.Decided.Proposal = w.e.Summary, 0
	}
}

// exhausted says why no agent is asked to fix the failure any more, nil when one may be.
func (w *waiting) exhausted() *decision.Reason {
	switch signature := w.ci.Signature(); {
	case w.records.FailedBefore(signature):
		return new(decision.CIStuck.Says(signature))
	case w.records.Fixes() >= maxFixes:
		return new(decision.CIExhausted.Says(signature))
	default:
		return nil
	}
}

// maxProblem bounds the text of what went wrong with a fix.
const maxProblem = 300

// positionOf is where the pending iteration stands: measured against the
// incumbent that it was measured against before.
func (r *run) positionOf(ctx context.Context, e history.Decided) (position, error) {
	at := position{Branch: e.Commit, PushOnto: e.Parent, Base: r.records.Base, BaseBranch: r.records.BaseBranch}
	var err error
	if at.Head, err = r.withBase(ctx, e.Parent, at.Base); err != nil {
		return at, err
	}
	if at.Start, err = r.withBase(ctx, e.Commit, at.Base); err != nil {
		return at, err
	}
	return r.identified(ctx, at)
}

// drop takes the branch back to the last accepted commit, keeps the attempt
// on a branch of its own, and pauses.
func (w *waiting) drop(ctx context.Context, reason decision.Reason) error {
	branch, err := w.keepFailed(ctx)
	where := decision.Reason{Kind: decision.AttemptKept, Path: branch}
	if err != nil {
		w.warn("the attempt is not kept at %s: %v", branch, err)
		because := decision.Say(plain.Short(err.Error(), maxProblem))
		where = decision.Reason{
			Kind: decision.AttemptLost, Path: w.e.Commit,
			Because: []decision.Reason{*cmp.Or(pushRefusal(err), &because)},
		}
	}
	w.e.Failing, w.e.Reasons = failing(w.ci), w.ci.Reasons
	pause := reason
	pause.Because = []decision.Reason{where}
	return w.final(ctx, history.CIFixExhausted, reason,
		&git.RefUpdate{Ref: w.ref(), New: w.e.Parent, Old: w.e.Commit}, &pause)
}

func failing(verdict ci.Result) []history.Check {
	var checks []history.Check
	for _, check := range verdict.Failing {
		checks = append(checks, history.Check{Name: check.Name, URL: check.URL})
	}
	return checks
}

// keepFailed keeps a failed candidate on a branch, whose name has the commit in it where another is there by the
// name of the iteration.
func (w *waiting) keepFailed(ctx context.Context) (branch string, err error) {
	branch = fmt.Sprintf("autoloop-failed/%s/%d", w.Program.Name, w.e.Iteration)
	push := func(old string) error {
		kept := git.RefUpdate{Ref: "refs/heads/" + branch, New: w.e.Commit, Old: old}
		if w.Memory.Remote == "" {
			if there, _, err := w.Repo.Resolve(ctx, kept.Ref); err != nil || there == kept.New {
				return err
			}
			return w.Repo.UpdateRefs(ctx, "autoloop: CI turned it down", kept)
		}
		return w.Repo.Remote(w.Memory.Remote).Push(ctx, kept)
	}
	if err = push(""); errors.Is(err, git.ErrStale) {
		branch = fmt.Sprintf("%s-%.12s", branch, w.e.Commit)
		err = push(git.Any)
	}
	return branch, err
}
