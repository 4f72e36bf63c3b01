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
	"github.com/org/autoloop/internal/history/state"
)

// The polling of CI: the pauses grow up to the last.
const (
	firstPoll = 10 * time.Second
	lastPoll  = time.Minute
)

// waiting is an iteration that waits for CI, with where the branch stands, what CI says of its commit
// now, and what CI or a person did by that.
type waiting struct {
	*run

	e      history.Decided
	head   string
	unread error // why it is not known where the branch stands
	ci     ci.Result
	event  lifecycle.Event
}

// waits asks CI about the iteration that waits for it, and is nil when none does. What cannot be
// read is pending. Late, what has failed counts, although the rest goes on.
func (r *run) waits(ctx context.Context, late bool) *waiting {
	e := r.records.Waiting()
	if e == nil {
		return nil
	}
	r.iteration = e.Iteration
	r.step("ci", "commit %.12s", e.Commit)
	at, err := r.candidate(ctx, r.records.Base, r.records.BaseBranch)
	at.Starts = at.Starts || err != nil
	at.Commit = e.Commit
	w := &waiting{run: r, e: *e}
	w.head, w.unread = r.head(ctx)
	if w.ci = r.GitHub.CI(ctx, at); w.unread != nil {
		w.ci.Reasons = append(w.ci.Reasons, decision.Reason{
			Kind: decision.CIFound, Term: ci.Unread, Words: "the branch could not be read: " + w.unread.Error(),
		})
	}
	w.event = w.happened(ctx, late)
	return w
}

// await reads CI until it has decided over the iteration that waits for it, if one does, or
// until this run stops waiting: then a later run goes on.
func (r *run) await(ctx context.Context) error {
	if e := r.records.Waiting(); e != nil && !r.merged(e.Commit) {
		if err := r.replayPending(ctx, *e); err != nil {
			return err
		}
		r.publishPending(ctx)
	}
	deadline, pause := r.Now().Add(r.Program.CIWait), firstPoll
	for {
		late := r.comments == nil || !r.Now().Before(deadline)
		w := r.waits(ctx, late)
		if w == nil {
			return nil
		}
		err := w.settle(ctx)
		switch {
		case err != nil || r.records.Waiting() == nil:
			return err
		case w.event == lifecycle.Red: // a fix was made
			deadline, pause = r.Now().Add(r.Program.CIWait), firstPoll
			continue
		case late:
			return w.keepWaiting(ctx, "")
		}
		if err := r.Sleep(ctx, min(pause, deadline.Sub(r.Now()))); err != nil {
			return err
		}
		pause = min(pause*3/2, lastPoll)
	}
}

// settle does what the table says of what happened. Where nothing is decided CI is to be asked again.
func (w *waiting) settle(ctx context.Context) error {
	switch next := w.next(w.event); {
	case next == lifecycle.Keep:
		return w.final(ctx, history.Accepted, w.word(), nil, nil)
	case w.event == lifecycle.Stuck:
		return w.drop(ctx, *w.exhausted())
	case next == lifecycle.Drop: // somebody moved the branch: their commit stays, and the next iteration begins with it
		return w.final(ctx, history.Rejected, w.word(), nil, nil)
	case next == lifecycle.Pause:
		return w.keepWaiting(ctx, "")
	case next == lifecycle.Fix:
		return w.fix(ctx)
	case w.event == lifecycle.Red:
		return w.keepWaiting(ctx, "no agent is asked to fix what CI found while the program is paused")
	}
	return nil
}

// happened is what CI, or a person, says of the commit that waits.
func (w *waiting) happened(ctx context.Context, late bool) lifecycle.Event {
	still := lifecycle.Pending
	if w.Now().Sub(w.records.WaitsSince) >= w.Program.CITimeout {
		still = lifecycle.Silent
	}
	switch {
	case w.merged(w.e.Commit):
		return lifecycle.Merged
	case w.unread != nil: // what CI says may be of a commit that the branch is not at
		return still
	case w.head != w.e.Commit:
		return lifecycle.Moved
	case w.ci.State == ci.Green:
		return lifecycle.Green
	case w.Program.CIGate == "off", w.ci.Seen == 0 && !w.ciRequired(ctx, w.records.Base, w.records.BaseBranch):
		return lifecycle.Absent
	case w.ci.State == ci.Red, late && len(w.ci.Failing) > 0:
		if w.exhausted() != nil {
			return lifecycle.Stuck
		}
		return lifecycle.Red
	default:
		return still
	}
}

// word is why nothing is waited for any more.
func (w *waiting) word() decision.Reason {
	switch says := w.ci.Reasons; {
	case w.event == lifecycle.Merged:
		merged := decision.MergedByHand.Counts(w.comments.Pull.Number)
		if w.ci.State == ci.Red {
			merged.Because = says
		}
		return merged
	case w.event == lifecycle.Moved:
		there := fmt.Sprintf("at %.12s", w.head)
		if w.head == "" {
			there = "gone"
		}
		return decision.Reason{Kind: decision.CIMoved, Path: there, Term: fmt.Sprintf("%.12s", w.e.Commit)}
	case w.event == lifecycle.Absent:
		return decision.Say(string(w.event))
	case len(says) > 0:
		return decision.CIAsBase.Because(says...)
	default:
		return decision.CIGreen.Counts(w.ci.Seen)
	}
}

// publishPending opens the pull request, since much of CI runs there alone, and
// starts the workflow that the program names.
func (r *run) publishPending(ctx context.Context) {
	e := r.records.Waiting()
	if r.comments == nil || e == nil {
		return
	}
	r.warn("the pull request is not up to date: %v", r.promote(ctx))
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

// keepWaiting ends the run while the iteration still waits, and pauses the program where nothing more is
// expected of CI; because says, if anything, why no agent was asked.
func (w *waiting) keepWaiting(ctx context.Context, because string) error {
	reasons := decision.Says("CI did not answer yet; a later run goes on")
	if because != "" {
		reasons = append(reasons, decision.Say(because))
	}
	silent := decision.Reason{
		Kind: decision.CITimeout, Term: w.Program.CITimeout.String(), Path: fmt.Sprintf("%.12s", w.e.Commit),
		Because: w.ci.Reasons, Words: w.ci.Cure(),
	}
	if w.ci.Seen == 0 {
		silent.Because = []decision.Reason{{Kind: decision.CINothing}}
	}
	err := w.write(ctx, fmt.Sprintf("iteration %d still waits for CI", w.e.Iteration), nil,
		func(b *records) error {
			b.add(&history.Finished{Outcome: history.PendingCI})
			w.consumed(b)
			if w.event == lifecycle.Silent && !b.machine.Paused { // who was told once is not told again
				b.pause(silent)
			}
			return nil
		})
	return cmp.Or(err, error(&endedError{
		outcome: history.PendingCI, reasons: append(reasons, w.ci.Reasons...), failing: failing(w.ci),
	}))
}

// final records the final decision on an iteration that waited for CI, by the word that ended the
// waiting, and moves the branch with it.
func (w *waiting) final(ctx context.Context, outcome state.Status, word decision.Reason, branch *git.RefUpdate,
	pause *decision.Reason,
) error {
	err := w.write(ctx, fmt.Sprintf("iteration %d: %s", w.e.Iteration, outcome), branch, func(b *records) error {
		decided := w.e
		decided.Outcome, decided.Reasons = outcome, append([]decision.Reason{word}, w.e.Reasons...)
		switch w.event { //nolint:exhaustive // the word of the others comes first
		case lifecycle.Absent:
			decided.Reasons = w.e.Reasons
		case lifecycle.Green:
			decided.Reasons = append(slices.Clip(w.e.Reasons), word)
		}
		if outcome != history.Accepted {
			decided.Best, decided.Commit = b.Best, ""
		}
		b.add(&decided)
		if b.Paused != nil && b.Paused.Is(decision.CITimeout) {
			b.goOn(word)
		}
		w.enterFinished(b, decided)
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
		return w.final(ctx, outcome, word, nil, &both)
	}
	return err
}

// fixable is the iteration whose failure in CI an agent may be asked to fix now, also one of which a part
// failed and the rest did not end in time; asked is false for one that only waits.
func (r *run) fixable(ctx context.Context) (w *waiting, asked bool) {
	w = r.waits(ctx, r.Now().Sub(r.records.WaitsSince) >= r.Program.CIWait)
	return w, w.ci.Seen > 0 && w.next(w.event) == lifecycle.Fix
}

// ciRequired reports whether a candidate must pass CI. With `auto` it must when
// CI was ever seen on this program, when a workflow of the base runs on what is
// pushed, when the base or the pull request has checks, or when rules require some: it
// never switches itself off. If that cannot be determined it returns true.
func (r *run) ciRequired(ctx context.Context, base, into string) bool {
	switch {
	case r.GitHub == nil, r.Program.CIGate == "off":
		return false
	case r.Program.CIGate == "required", r.Program.CIWorkflow != "", r.records.CISeen:
		return true
	}
	at, err := r.candidate(ctx, base, into)
	required := at.Starts
	if err == nil && !required {
		required, err = r.GitHub.HasCI(ctx, at)
	}
	r.warn("whether CI runs on the default branch was not read, so the change waits for CI: %v", err)
	return err != nil || required
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

// candidate is a change of the target files of a base, which is for a branch, with what the workflows of
// the base do when it is pushed or in a pull request.
func (r *run) candidate(ctx context.Context, base, into string) (ci.Candidate, error) {
	at := ci.Candidate{Base: r.checkedBase(ctx, base), BaseBranch: into}
	entries, err := r.Repo.LsTree(ctx, base)
	if err != nil {
		return at, err
	}
	change := ci.Push{Branch: r.branch(), Into: into}
	var files, ids []string
	for _, e := range entries {
		if ci.IsWorkflow(e.Path) {
			files, ids = append(files, e.Path), append(ids, e.ID)
		} else if r.Program.Targeted(e.Path) {
			change.Files = append(change.Files, e.Path)
		}
	}
	texts := map[string][]byte{}
	objects, err := r.Repo.Cat(ctx, ids...)
	for i, o := range objects {
		texts[files[i]] = o.Data
	}
	at.Starts, at.Elsewhere = change.Started(texts)
	return at, err
}
