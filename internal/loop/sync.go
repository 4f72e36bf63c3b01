package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop/proposal"
	"github.com/org/autoloop/internal/plain"
)

// position is where the program branch stands after synchronisation.
type position struct {
	// Head is the incumbent: the commit that candidates start from.
	Head string
	// Old is the program branch's commit before; "" when there is no branch.
	Old string
	// Base is the head of the default branch BaseBranch.
	Base, BaseBranch string
	// Tip is the branch's commit that stands for Head where the branch keeps its own
	// base, and Head, with the default branch in it, is not pushed; else "".
	Tip string
	// From is the commit, with the default branch in it, that a fix for CI begins with.
	From string
	// Move says that the branch has to move from Old to Head.
	Move bool
	// Deleted says that the remote has no branch at Old any more: it was deleted when
	// its pull request was merged, and begins anew there.
	Deleted bool
	// Note says what synchronisation did; "" when nothing.
	Note string

	entries  []git.TreeEntry // the incumbent's tracked files
	identity                 // what its measurement means
}

// branchUpdate returns the move that synchronisation asks for, nil when none.
func (p position) branchUpdate(ref string) *git.RefUpdate {
	if !p.Move {
		return nil
	}
	return p.moveTo(ref, p.Head)
}

// moveTo is the move of the program branch to a commit.
func (p position) moveTo(ref, commit string) *git.RefUpdate {
	move := &git.RefUpdate{Ref: ref, New: commit, Old: p.Old}
	if p.Deleted {
		move.Old = ""
	}
	return move
}

// conflicts says that files of base cannot be merged into the program branch.
func (s *session) conflicts(base string, files []string) error {
	const most = 10
	var names []string
	for _, path := range atMost(files, most) {
		names = append(names, plain.Path(path))
	}
	words := strings.Join(names, ", ")
	if len(files) > most {
		words += fmt.Sprintf(" and %d more", len(files)-most)
	}
	return &failedError{
		reason:   decision.Reason{Kind: decision.Conflict, Term: base, Path: s.branch(), Words: words},
		conflict: true,
	}
}

// sync compares the program branch with the default branch. There are four
// cases: no branch, or one with nothing of its own, stands at the default
// branch's head; one that is behind gets the default branch merged; else it
// stays as it is.
func (r *run) sync(ctx context.Context) (position, error) {
	at := position{}
	var err error
	if at.BaseBranch, at.Base, err = r.base(ctx); err != nil {
		return at, err
	}
	return r.place(ctx, at)
}

// place says where the program branch stands against the position's base. It keeps its own
// where the remote did not let it have that.
func (r *run) place(ctx context.Context, at position) (position, error) {
	at, err := r.reconciled(ctx, at)
	if at.Move && r.records.WorkflowsRefused == at.Base {
		at = at.onOwnBase()
	}
	return at, err
}

func (r *run) reconciled(ctx context.Context, at position) (position, error) {
	var err error
	if at.Old, err = r.head(ctx); err != nil {
		return at, err
	}
	if at.Old == "" || at.Old == at.Base {
		at.Head = at.Base
		return at, nil
	}
	if r.merged(at.Old) {
		at.Head, at.Move, at.Note = at.Base, true,
			fmt.Sprintf("its pull request #%d was merged", r.comments.Pull.Number)
		return at, nil
	}
	after, err := r.isAfterMerge(ctx, at.Old, at.Base)
	switch {
	case err != nil:
		return at, err
	case after:
		return r.replayPosition(ctx, at)
	}
	return r.reconcileBranch(ctx, at)
}

func (r *run) reconcileBranch(ctx context.Context, at position) (position, error) {
	if err := r.deepen(ctx); err != nil {
		return at, err
	}
	unique, behind, err := r.Repo.AheadBehind(ctx, at.Old, at.Base)
	switch {
	case err != nil:
		return at, err
	case behind == 0:
		at.Head = at.Old
		return at, nil
	case unique == 0:
		at.Head, at.Move = at.Base, true
		at.Note = fmt.Sprintf("moved to %s", at.BaseBranch)
		return at, nil
	}
	at.Head, err = r.merge(ctx, at.Old, at.Base, at.BaseBranch, r.signed("Merge %s\n\n", at.BaseBranch))
	at.Move, at.Note = err == nil, fmt.Sprintf("merged %s (%d commits)", at.BaseBranch, behind)
	return at, err
}

// merge makes the merge of a commit of the program branch with one of the default branch.
func (r *run) merge(ctx context.Context, commit, base, called, message string) (string, error) {
	merged, conflicts, err := r.Repo.MergeTree(ctx, commit, base)
	switch {
	case err != nil:
		return "", err
	case len(conflicts) > 0:
		return "", r.conflicts(called, conflicts)
	}
	return r.commitTree(ctx, merged, message, commit, base)
}

// defaultBranch is the branch that the program's work is for: the one asked
// for, else the recorded one, else the remote's default, else the
// branch that is checked out.
func (r *run) defaultBranch(ctx context.Context) (string, error) {
	if r.Base != "" {
		return r.Base, nil
	}
	if r.Memory.Remote != "" {
		ref, err := r.Repo.Remote(r.Memory.Remote).DefaultBranch(ctx)
		return strings.TrimPrefix(ref.Name, "refs/heads/"), err
	}
	if known := r.records.BaseBranch; known != "" {
		return known, nil
	}
	head, err := r.Repo.CurrentBranch(ctx)
	if err != nil {
		return "", err
	}
	branch := strings.TrimPrefix(head, "refs/heads/")
	if branch == "" {
		return "", fmt.Errorf("no branch is checked out (detached HEAD); say which one to improve with --base")
	}
	if strings.HasPrefix(branch, BranchPrefix) {
		return "", fmt.Errorf(
			"branch %s is checked out, which Autoloop writes; check out your own branch or use --base",
			branch,
		)
	}
	return branch, nil
}

// base is the default branch, with its commit.
func (r *run) base(ctx context.Context) (branch, commit string, err error) {
	if branch, err = r.defaultBranch(ctx); err == nil {
		commit, err = r.baseCommit(ctx, branch)
	}
	return branch, commit, err
}

func (r *run) baseCommit(ctx context.Context, branch string) (string, error) {
	ref := "refs/heads/" + branch
	if remote := r.Memory.Remote; remote != "" { // No ref of the user's is written for it.
		refs, err := r.Repo.Remote(remote).Refs(ctx, ref)
		if err != nil {
			return "", err
		}
		commit, ok := refs[ref]
		if !ok {
			return "", fmt.Errorf("remote %s has no branch %s: push it, or name another with --base", remote, branch)
		}
		return commit, r.Repo.Remote(remote).Obtain(ctx, commit, ref)
	}
	commit, ok, err := r.Repo.Resolve(ctx, ref)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", fmt.Errorf("default branch %s has no commit at %s: commit something, or name another branch with "+
			"--base", branch, ref)
	}
	return commit, nil
}

// deepen makes a shallow clone whole before ahead and behind are believed.
func (r *run) deepen(ctx context.Context) error {
	shallow, err := r.Repo.IsShallow()
	if err != nil || !shallow {
		return err
	}
	if err := r.Repo.Remote(cmp.Or(r.Memory.Remote, "origin")).Unshallow(ctx); err != nil {
		return fmt.Errorf("this clone is shallow, so what the branches have in common cannot be told; run `git fetch "+
			"--unshallow`: %w", err)
	}
	return nil
}

// positionOfProposal finds the position that the proposal was made from, and
// refuses the proposal when a branch has moved since.
func (r *run) positionOfProposal(ctx context.Context, from *proposal.Proposal) (at position, err error) {
	branch, head, err := r.base(ctx)
	if err == nil && branch != from.BaseBranch {
		err = proposal.Refuse("it is for branch %q, not for %q", from.BaseBranch, branch)
	}
	if err == nil {
		err = r.deepen(ctx)
	}
	known := false
	if err == nil {
		_, known, err = r.Repo.Resolve(ctx, from.Base)
	}
	if err == nil && known {
		known, err = r.Repo.IsAncestor(ctx, from.Base, head)
	}
	if err == nil && !known {
		err = proposal.Refuse("it was made from commit %.12s, which is not on %s", from.Base, branch)
	}
	if err != nil {
		return at, err
	}
	at, err = r.place(ctx, position{Base: from.Base, BaseBranch: branch})
	if err == nil && at.Old == "" && r.merged(from.Branch) {
		at, err = r.placeOfDeleted(ctx, from.Branch, at)
	}
	if conflict(err) != nil || at.Old != from.Branch {
		return at, r.moved()
	}
	if err == nil {
		err = r.madeFrom(ctx, at.Head, from)
	}
	if _, refused := errors.AsType[*proposal.RefusedError](err); refused && r.merged(at.Old) {
		// It was merged after the proposal: what is kept goes on top, and is replayed.
		at.Move, at.Note = false, ""
		if at, err = r.reconcileBranch(ctx, at); err == nil {
			err = r.madeFrom(ctx, at.Head, from)
		}
	}
	if err == nil {
		at, err = r.identified(ctx, at)
	}
	at.Executor = from.Executor()
	return at, err
}

func (r *run) moved() error {
	return proposal.Refuse("it is stale: branch %s has moved since; propose again", r.branch())
}

// madeFrom refuses a proposal that was made from other files than those of a commit.
func (r *run) madeFrom(ctx context.Context, commit string, p *proposal.Proposal) error {
	tree, _, err := r.Repo.TreeOf(ctx, commit)
	if err == nil && tree != p.Incumbent {
		err = proposal.Refuse("it was made from other files than those of %s", r.branch())
	}
	return err
}

// positionOfFix is where the pending iteration stands. It refuses a bundle that was
// made from another position.
func (r *run) positionOfFix(ctx context.Context, from *proposal.Proposal, e history.Decided) (at position, err error) {
	head, err := r.head(ctx)
	if err == nil && head != e.Commit {
		err = r.moved()
	}
	if err == nil {
		err = r.deepen(ctx)
	}
	if err == nil {
		at, err = r.positionOf(ctx, e)
	}
	if err == nil && (from.Base != at.Base || from.BaseBranch != at.BaseBranch) {
		err = proposal.Refuse("it was made from commit %.12s of %s, and the baseline is of %.12s of %s", from.Base,
			from.BaseBranch, at.Base, at.BaseBranch)
	}
	if err == nil {
		err = r.madeFrom(ctx, at.From, from)
	}
	return at, err
}

// onOwnBase lets the branch stay on the base that it has: what is built and
// measured is the branch merged with the default branch, and only the candidate's
// own commits are pushed.
func (p position) onOwnBase() position {
	p.Tip, p.Move = p.Old, false
	return p
}

// tip is the commit on the branch that stands for Head.
func (p position) tip() string {
	return cmp.Or(p.Tip, p.Head)
}

// start is the commit that an agent begins with.
func (p position) start() string { return cmp.Or(p.From, p.Head) }

// withBase returns a commit with the default branch in it: the commit itself, or
// the merge of both, which is not pushed.
func (r *run) withBase(ctx context.Context, commit, base string) (string, error) {
	if base == "" {
		return commit, nil
	}
	has, err := r.Repo.IsAncestor(ctx, base, commit)
	if err != nil || has {
		return commit, err
	}
	return r.merge(ctx, commit, base, base[:12], "merged\n")
}

// commitOnBase makes the commit of a candidate. On a branch that lacks the default branch it
// has the candidate's own change alone, and merging it has to give what was measured.
func (r *run) commitOnBase(ctx context.Context, at position, parent, candidate, message string) (string, error) {
	tree, conflicts, err := candidate, []string(nil), error(nil)
	if at.Tip != "" {
		tree, conflicts, err = r.threeWay(ctx, at.start(), parent, candidate)
	}
	if err != nil || len(conflicts) > 0 {
		return "", cmp.Or(err, proposal.Refuse("%s", r.needsWorkflows(conflicts)))
	}
	commit, err := r.commitTree(ctx, tree, message, parent)
	if err != nil || at.Tip == "" {
		return commit, err
	}
	merged, conflicts, err := r.Repo.MergeTree(ctx, commit, at.Base)
	if err == nil && (len(conflicts) > 0 || merged != candidate) {
		err = proposal.Refuse("%s", r.needsWorkflows(conflicts))
	}
	return commit, err
}

func (r *run) needsWorkflows(files []string) decision.Reason {
	return decision.Reason{
		Kind: decision.PushNeedsMerge, Path: r.branch(),
		Words: strings.Join(atMost(files, 5), ", "),
	}
}

// threeWay merges two trees or commits whose common one is base. Git's merge takes
// no base, so three commits are made that have it.
func (s *session) threeWay(ctx context.Context, base, ours, theirs string) (tree string, conflicts []string,
	err error,
) {
	var commits []string
	for _, from := range []string{base, ours, theirs} {
		commit, err := s.commitTree(ctx, from+"^{tree}", "merging\n", atMost(commits, 1)...)
		if err != nil {
			return "", nil, err
		}
		commits = append(commits, commit)
	}
	return s.Repo.MergeTree(ctx, commits[1], commits[2])
}

// commitTree makes a commit of now.
func (s *session) commitTree(ctx context.Context, tree, message string, parents ...string) (string, error) {
	return s.Repo.CommitTree(ctx, tree, parents, message, s.Now().Truncate(time.Second))
}

// signed is the message of a commit of this run.
func (s *session) signed(format string, args ...any) string {
	text := fmt.Sprintf(format, args...)
	return fmt.Sprintf("[Autoloop: %s] %sAutoloop-Run: %s\n%s", s.Program.Name, text, s.id, s.SignOff)
}

// pushRefusal says what the remote said when it refused a push of the program
// branch, and what to do; nil for every other error, and when nothing but the memory
// branch was refused for its own sake.
func pushRefusal(err error) *decision.Reason {
	refused, is := errors.AsType[*git.RejectedError](err)
	if !is || errors.Is(err, git.ErrStale) {
		return nil
	}
	own := func(ref git.Rejection) bool { return ref.Ref != "refs/heads/"+memory.MemoryBranch && !ref.Atomic() }
	if !slices.ContainsFunc(refused.Refs, own) {
		return nil
	}
	return &decision.Reason{Kind: refusalKind(refused.Error()), Words: refused.Error()}
}

// refusedForWorkflows reports whether the remote refused a push because of workflow
// files in it.
func refusedForWorkflows(err error) bool {
	reason := pushRefusal(err)
	return reason != nil && reason.Is(decision.PushNeedsWorkflows)
}

// refusalKind tells apart the words with which GitHub refuses a push.
func refusalKind(words string) decision.Why {
	switch {
	case strings.Contains(words, "refusing to allow") && strings.Contains(words, "workflow"):
		return decision.PushNeedsWorkflows
	case strings.Contains(words, "protected branch"), strings.Contains(words, "rule violations"),
		strings.Contains(words, "GH006"), strings.Contains(words, "GH013"):
		return decision.PushProtected
	case strings.Contains(words, "hook declined"):
		return decision.PushHook
	default:
		return decision.PushRefused
	}
}
