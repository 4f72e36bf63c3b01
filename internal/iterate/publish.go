package iterate

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/bundle"
	"github.com/org/autoloop/internal/gate"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/ledger"
	"github.com/org/autoloop/internal/prompt"
	"github.com/org/autoloop/internal/store"
)

// published is the setting whose value is the digest of the last bundle that was
// recorded.
const published = "published"

// RefusedError says why a bundle is not recorded. Nothing was changed.
type RefusedError struct{ Reason string }

// Error returns the reason.
func (e *RefusedError) Error() string { return "the bundle is refused: " + e.Reason }

func refuse(format string, args ...any) error {
	return &RefusedError{fmt.Sprintf(format, args...)}
}

// Publish records what Propose handed on, as if this run had made it. Neither
// the program's code nor an agent is run. All of it is written in one step,
// or nothing: what is stale or against the rules is a *RefusedError.
func (s *Service) Publish(ctx context.Context, b bundle.Bundle) (Result, error) {
	own := *s
	own.Agent, own.Agents = recorded{}, nil
	run := own.begin()
	run.publishing = true
	return run.through(ctx, func(ctx context.Context) (Result, error) { return run.publish(ctx, b) })
}

func (r *run) publish(ctx context.Context, from bundle.Bundle) (Result, error) {
	files, _, err := r.Memory.Read(ctx, r.Program.Name)
	if err != nil {
		return Result{}, err
	}
	if err := r.current(from, files); err != nil {
		return Result{}, err
	}
	handed, err := unpack(from)
	if err != nil {
		return Result{}, err
	}
	if handed.attempt.agent != nil {
		r.Agent = handed.attempt.agent
	}
	at, err := r.standing(ctx, from)
	if err != nil {
		return Result{}, err
	}
	if err := handed.fits(r, at); err != nil {
		return Result{}, err
	}
	commit := ""
	if handed.kept() {
		if commit, err = r.rebuild(ctx, from, at, handed.attempt); err != nil {
			return Result{}, err
		}
	}
	return r.enterBundle(ctx, from, at, handed, commit)
}

// current refuses a bundle of another program, one that was recorded, and one
// that was made from other books than there are now.
func (r *run) current(from bundle.Bundle, files store.Files) error {
	b, err := openBooks(r.Program, files)
	if err != nil {
		return err
	}
	for _, e := range b.log.Events {
		if e.Kind == ledger.Set && e.Key == published && e.Value == from.ID {
			return refuse("it was published before, by run %s", e.Run)
		}
	}
	switch {
	case from.Program != r.Program.Name:
		return refuse("it is of program %q, not of %q", from.Program, r.Program.Name)
	case from.Books != booksDigest(files):
		return refuse("it is stale: the state of %s has changed since; propose again", r.Program.Name)
	}
	r.books, r.files, r.before = b, files, b.sum.LastRun
	return nil
}

// standing finds the position that the bundle was made from, and refuses the
// bundle when it is no more.
func (r *run) standing(ctx context.Context, from bundle.Bundle) (position, error) {
	at := position{Base: from.Base}
	var err error
	if at.BaseBranch, err = r.defaultBranch(ctx); err != nil {
		return at, err
	}
	if at.BaseBranch != from.BaseBranch {
		return at, refuse("it is for branch %q, not for %q", from.BaseBranch, at.BaseBranch)
	}
	head, err := r.baseCommit(ctx, at.BaseBranch)
	if err != nil {
		return at, err
	}
	if err := r.deepen(ctx); err != nil {
		return at, err
	}
	_, known, err := r.Repo.Resolve(ctx, from.Base)
	if err == nil && known {
		known, err = r.Repo.IsAncestor(ctx, from.Base, head)
	}
	if err != nil {
		return at, err
	}
	if !known {
		return at, refuse("it was made from commit %.12s, which is not on %s", from.Base, at.BaseBranch)
	}
	return r.stands(ctx, from, at)
}

func (r *run) stands(ctx context.Context, from bundle.Bundle, at position) (position, error) {
	at, err := r.place(ctx, at)
	var conflict *conflictError
	if at.Old != from.Branch || errors.As(err, &conflict) {
		return at, refuse("it is stale: branch %s has moved since; propose again", r.branch())
	}
	if err != nil {
		return at, err
	}
	tree, err := r.treeOf(ctx, at.Head)
	if err != nil {
		return at, err
	}
	if tree != from.Incumbent {
		return at, refuse("it was made from other files than those of %s", r.branch())
	}
	if at.entries, err = r.entries(ctx, at.Head); err != nil {
		return at, err
	}
	at.identity, err = r.identify(at.entries)
	return at, err
}

// rebuild makes the commit of the candidate, after its files were held against
// the target.
func (r *run) rebuild(ctx context.Context, from bundle.Bundle, at position, a *attempt) (string, error) {
	tree, err := r.Repo.Apply(ctx, at.Head, from.Patch)
	if err != nil {
		return "", refuse("its patch does not apply: %v", err)
	}
	if tree != from.Candidate {
		return "", refuse("its patch makes other files than those that were measured")
	}
	changes, err := r.changes(ctx, at.Head, tree)
	if err != nil {
		return "", err
	}
	matcher := r.Program.Matcher()
	verdict := gate.Guard(changes, gate.Rules{
		Target: matcher.Target, Protected: matcher.Protected, Literal: matcher.Literal,
		ProgramFile: r.Program.File, Scripts: r.scripts(at),
	})
	if !verdict.OK {
		return "", refuse("%s", verdict.Reasons()[0])
	}
	for _, change := range changes {
		a.changed = append(a.changed, change.Path)
	}
	a.tree = tree
	return r.commit(ctx, at, a)
}

// enterBundle writes everything in one step. The books may not have changed
// since they were read.
func (r *run) enterBundle(ctx context.Context, from bundle.Bundle, at position, h *handed, commit string) (Result, error) {
	update := at.branchUpdate(r.ref())
	waits := false
	if commit != "" {
		update = &git.RefUpdate{Ref: r.ref(), New: commit, Old: at.Old}
		if waits = r.gated(ctx, at.Base); waits {
			h.attempt.outcome, h.decided.Outcome = ledger.PendingCI, ledger.PendingCI
		}
	}
	r.step("record", string(h.attempt.outcome))
	message := fmt.Sprintf("%s: iteration %d %s", r.Program.Name, from.Iteration, h.attempt.outcome)
	err := r.update(ctx, message, update, func(b *books) error {
		if booksDigest(b.read) != from.Books {
			return refuse("it is stale: the state of %s has changed since; propose again", r.Program.Name)
		}
		return r.enterHanded(b, from.ID, at, h, commit, waits)
	})
	if err != nil {
		return Result{}, err
	}
	r.look(ctx)
	if waits {
		return r.settle(ctx)
	}
	if h.decided == nil {
		return r.result(ledger.Idle, r.stopped), nil
	}
	return r.report(h.attempt, commit), nil
}

func (r *run) enterHanded(b *books, id string, at position, h *handed, commit string, waits bool) error {
	if err := r.enterStart(b); err != nil {
		return err
	}
	if err := r.set(b, published, id); err != nil {
		return err
	}
	if len(h.zero) > 0 {
		if err := r.enterBaseline(b, at, h.zero); err != nil {
			return err
		}
	}
	for _, e := range h.measured {
		e.Iteration, e.Commit = r.iteration, ""
		if err := r.add(b, e); err != nil {
			return err
		}
	}
	if h.decided == nil {
		if r.stopped == "" {
			return refuse("it decides nothing")
		}
		if err := r.consumed(b); err != nil {
			return err
		}
		return r.add(b, ledger.Event{Kind: ledger.Finished, Iteration: b.sum.Iteration})
	}
	decided, err := h.decision(r, b, at, commit)
	if err != nil {
		return err
	}
	if !waits {
		return r.enterDecided(b, h.attempt, decided)
	}
	if err := r.enterPending(b, decided); err != nil {
		return err
	}
	for _, one := range h.attempt.all() {
		b.enterNotes(r.iteration, one.notes)
	}
	return r.consumed(b)
}

// look finds issue and pull request, for what is shown there. What was said
// there is left to the next run.
func (r *run) look(ctx context.Context) {
	if r.Front == nil {
		return
	}
	heard, err := r.Front.Hear(ctx, r.account())
	if err != nil {
		r.warn("the issue and the pull request were not read: %v", err)
		return
	}
	r.heard = &heard
}

// recorded stands for the agent that made a proposal elsewhere.
type recorded struct{ name string }

func (a recorded) Name() string { return a.name }

// Propose is an error: no agent works while a bundle is published.
func (a recorded) Propose(context.Context, agent.Request) (agent.Reply, error) {
	return agent.Reply{}, fmt.Errorf("%s made this proposal elsewhere; publishing asks no agent", a.name)
}

func notesOf(e ledger.Event) prompt.Notes {
	return prompt.Notes{Lessons: e.Lessons, Foreclosed: e.Foreclosed, Ideas: e.Ideas}
}
