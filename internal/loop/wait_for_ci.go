package loop

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/github/lifecycle"
	"github.com/org/autoloop/internal/history"
)

// The polling of CI: the pauses grow up to the last.
const (
	firstPoll = 10 * time.Second
	lastPoll  = time.Minute
)

// await reads CI until it has decided over the iteration that waits for it, if one does, or
// until this run stops waiting: then a later run goes on.
func (r *run) await(ctx context.Context) error {
	deadline, pause := r.Now().Add(r.Program.CIWait), firstPoll
	if e := r.records.Waiting(); e != nil && !r.merged(e.Commit) {
		if err := r.replayPending(ctx, *e); err != nil {
			return err
		}
		if r.records.Waiting() != nil {
			r.publishPending(ctx)
		}
	}
	for {
		waiting := r.records.Waiting()
		if waiting == nil {
			return nil
		}
		e := *waiting
		r.iteration = e.Iteration
		r.step("ci", "commit %.12s", e.Commit)
		verdict := r.verdict(ctx, e)
		late := r.comments == nil || !r.Now().Before(deadline)
		event := r.event(ctx, e, verdict, late)
		err := r.settle(ctx, e, event, verdict)
		switch {
		case err != nil || r.records.Waiting() == nil:
			return err
		case event == lifecycle.Red: // a fix was made
			deadline, pause = r.Now().Add(r.Program.CIWait), firstPoll
			continue
		case late:
			return r.keepWaiting(ctx, e, nil, verdict)
		}
		if err := r.Sleep(ctx, min(pause, deadline.Sub(r.Now()))); err != nil {
			return err
		}
		pause = min(pause*3/2, lastPoll)
	}
}

// settle does what the table says of an event. Where nothing is decided CI is to be asked again.
func (r *run) settle(ctx context.Context, e history.Decided, event lifecycle.Event, verdict ci.Result) error {
	switch next := r.next(event); {
	case next == lifecycle.Keep:
		return r.keep(ctx, e, event, verdict)
	case next == lifecycle.Drop && event == lifecycle.Stuck:
		return r.giveUpFix(ctx, e, verdict, *fixesExhausted(&r.records.Summary, verdict.Signature()))
	case next == lifecycle.Drop: // somebody moved the branch: their commit stays, and the next iteration begins with it
		e.Outcome = history.Rejected
		e.Reasons = append([]decision.Reason{{Kind: decision.CIMoved, Because: found(verdict)}}, e.Reasons...)
		return r.recordFinal(ctx, e, nil, nil)
	case next == lifecycle.Pause:
		return r.keepWaiting(ctx, e, r.timedOut(e, verdict), verdict)
	case next == lifecycle.Fix:
		return r.fixFailure(ctx, e, verdict)
	case event == lifecycle.Red:
		return r.keepWaiting(ctx, e, nil,
			verdict.Because("no agent is asked to fix what CI found while the program is paused"))
	}
	return nil
}

// event is what CI, or a person, says of the commit that waits. Late, what has failed
// counts, although the rest goes on.
func (r *run) event(ctx context.Context, e history.Decided, verdict ci.Result, late bool) lifecycle.Event {
	standing := &r.records.Summary
	switch {
	case r.merged(e.Commit):
		return lifecycle.Merged
	case verdict.State == ci.Moved:
		return lifecycle.Moved
	case verdict.State == ci.Green:
		return lifecycle.Green
	case r.Program.CIGate == "off", verdict.Seen == 0 && !r.ciRequired(ctx, r.records.Base):
		return lifecycle.Absent
	case verdict.State == ci.Red, late && len(verdict.Failing) > 0:
		if fixesExhausted(standing, verdict.Signature()) != nil {
			return lifecycle.Stuck
		}
		return lifecycle.Red
	case r.Now().Sub(standing.WaitsSince) >= r.Program.CITimeout:
		return lifecycle.Silent
	default:
		return lifecycle.Pending
	}
}

// timedOut says why nothing more is expected of CI, and what to do.
func (r *run) timedOut(e history.Decided, verdict ci.Result) *decision.Reason {
	what := found(verdict)
	if verdict.Seen == 0 {
		what = []decision.Reason{{Kind: decision.CINothing}}
	}
	return &decision.Reason{
		Kind: decision.CITimeout, Term: r.Program.CITimeout.String(),
		Path: fmt.Sprintf("%.12s", e.Commit), Because: what, Words: verdict.Cure(),
	}
}

// publishPending opens the pull request, since much of CI runs there alone, and
// starts the workflow that the program names.
func (r *run) publishPending(ctx context.Context) {
	if r.comments == nil {
		return
	}
	r.warn("the pull request is not up to date: %v", r.promote(ctx))
	e := r.records.Decision
	if r.Program.CIWorkflow == "" || r.records.CIStarted == e.Commit {
		return
	}
	if err := r.GitHub.Dispatch(ctx, r.Program.CIWorkflow, r.branch()); err != nil {
		r.warn("workflow %s was not started: %v; it needs `on: workflow_dispatch` on the default branch, and the job "+
			"`actions: write`", r.Program.CIWorkflow, err)
		return
	}
	err := r.write(ctx, "CI was started", nil,
		func(b *records) error {
			b.set(history.CIStarted, e.Commit)
			return nil
		})
	r.warn("that CI was started was not noted: %v", err)
}

// verdict is what CI says now. What cannot be read is pending.
func (r *run) verdict(ctx context.Context, e history.Decided) ci.Result {
	at := ci.Candidate{
		Commit: e.Commit, Base: r.checkedBase(ctx, r.records.Base),
		BaseBranch: r.records.BaseBranch,
	}
	at.Branch.Commit, at.Branch.Err = r.head(ctx)
	if r.merged(e.Commit) {
		at.Branch.Commit = e.Commit // it may be deleted
	}
	starts, _, elsewhere, err := r.workflows(ctx, r.records.Base)
	at.Starts, at.Elsewhere = starts || err != nil, elsewhere
	return r.GitHub.CI(ctx, at)
}

// keep settles an iteration: CI lets it through, or a person merged it meanwhile, and what
// CI says then is told.
func (r *run) keep(ctx context.Context, e history.Decided, event lifecycle.Event, verdict ci.Result) error {
	says := found(verdict)
	switch {
	case event == lifecycle.Merged:
		merged := decision.Reason{Kind: decision.MergedByHand, Count: r.comments.Pull.Number}
		if verdict.State == ci.Red {
			merged.Because = says
		}
		e.Reasons = append([]decision.Reason{merged}, e.Reasons...)
	case event == lifecycle.Green && len(says) > 0:
		e.Reasons = append(e.Reasons, decision.Reason{Kind: decision.CIAsBase, Because: says})
	case event == lifecycle.Green:
		e.Reasons = append(e.Reasons, decision.Reason{Kind: decision.CIGreen, Count: verdict.Seen})
	}
	e.Outcome = history.Accepted
	return r.recordFinal(ctx, e, nil, nil)
}

// keepWaiting ends the run while the iteration still waits. A reason pauses the
// program.
func (r *run) keepWaiting(ctx context.Context, e history.Decided, pause *decision.Reason,
	verdict ci.Result,
) error {
	reasons := append([]decision.Reason{decision.Say("CI did not answer yet; a later run goes on")}, found(verdict)...)
	err := r.write(ctx, fmt.Sprintf("iteration %d still waits for CI", e.Iteration), nil,
		func(b *records) error {
			b.add(&history.Finished{Outcome: history.PendingCI})
			r.consumed(b)
			if pause != nil && !b.machine.Paused { // who was told once is not told again
				b.pause(*pause)
			}
			return nil
		})
	return cmp.Or(err, error(&endedError{outcome: history.PendingCI, reasons: reasons, failing: failing(verdict)}))
}

// recordFinal records the final decision on an iteration that waited for CI, and
// moves the branch with it.
func (r *run) recordFinal(ctx context.Context, e history.Decided, branch *git.RefUpdate,
	pause *decision.Reason,
) error {
	err := r.write(ctx, fmt.Sprintf("iteration %d %s", e.Iteration, e.Outcome), branch,
		func(b *records) error {
			decided := e
			if e.Outcome != history.Accepted {
				decided.Best, decided.Commit = b.Best, ""
			}
			b.add(&decided)
			if b.Paused != nil && b.Paused.Is(decision.CITimeout) { // CI has answered
				b.goOn(e.Reasons[len(e.Reasons)-1])
			}
			r.enterFinished(b, decided)
			if pause == nil {
				return nil
			}
			if b.Pull > 0 && b.Incumbent == b.Base { // a pull request with nothing in it ends by our hand
				b.set(history.PullEnded, strconv.Itoa(b.Pull))
			}
			b.pause(*pause)
			return nil
		})
	if reason := pushRefusal(err); reason != nil && branch != nil {
		both := *pause
		both.Because = append(slices.Clip(both.Because), *reason)
		return r.recordFinal(ctx, e, nil, &both)
	}
	return err
}

// asksToFix reports whether CI is known to have failed for the pending commit and an agent
// may help: also when a part of it failed and the rest did not end in time.
func (r *run) asksToFix(ctx context.Context, e history.Decided, verdict ci.Result) bool {
	late := r.Now().Sub(r.records.WaitsSince) >= r.Program.CIWait
	return verdict.Seen > 0 && r.next(r.event(ctx, e, verdict, late)) == lifecycle.Fix
}

// ciRequired reports whether a candidate must pass CI. With `auto` it must when
// CI was ever seen on this program, when a workflow of the base runs on what is
// pushed, when the base or the pull request has checks, or when rules require some: it
// never switches itself off. If that cannot be determined it returns true.
func (r *run) ciRequired(ctx context.Context, base string) bool {
	switch {
	case r.GitHub == nil, r.Program.CIGate == "off":
		return false
	case r.Program.CIGate == "required", r.Program.CIWorkflow != "", r.records.CISeen:
		return true
	}
	starts, into, elsewhere, err := r.workflows(ctx, base)
	if err == nil && !starts {
		starts, err = r.GitHub.HasCI(ctx, r.checkedBase(ctx, base), into, elsewhere)
	}
	r.warn("whether CI runs on the default branch was not read, so the change waits for CI: %v", err)
	return err != nil || starts
}

// maxSkipped bounds how many commits in a row may ask CI to stay away.
const maxSkipped = 50

// checkedBase is the commit whose checks a base is known by: the base itself, or the
// nearest before it whose message does not ask CI to stay away.
func (r *run) checkedBase(ctx context.Context, base string) string {
	at := base
	for range maxSkipped {
		commit, err := r.Repo.ReadCommit(ctx, at)
		if err != nil || !ci.Skipped(commit.Message) || len(commit.Parents) == 0 {
			return at
		}
		at = commit.Parents[0]
	}
	return base
}

// workflows reports whether a workflow of the base runs when a change of the target
// files is pushed or in a pull request into the default branch, and which workflows do not.
func (r *run) workflows(ctx context.Context, base string) (starts bool, into string, elsewhere []string, err error) {
	entries, err := r.Repo.LsTree(ctx, base)
	if err != nil {
		return false, "", nil, err
	}
	change := ci.Push{Branch: r.branch(), Into: r.records.BaseBranch}
	if change.Into == "" {
		if change.Into, err = r.defaultBranch(ctx); err != nil {
			return false, "", nil, err
		}
	}
	var files, ids []string
	matcher := r.Program.Matcher()
	for _, e := range entries {
		if ci.IsWorkflow(e.Path) {
			files, ids = append(files, e.Path), append(ids, e.ID)
		} else if matcher.Target(e.Path) {
			change.Files = append(change.Files, e.Path)
		}
	}
	objects, err := r.Repo.Cat(ctx, ids...)
	if err != nil {
		return false, "", nil, err
	}
	texts := map[string][]byte{}
	for i, o := range objects {
		texts[files[i]] = o.Data
		starts = starts || change.Starts(o.Data)
	}
	return starts, change.Into, change.Elsewhere(texts), nil
}
