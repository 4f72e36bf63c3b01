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
	"github.com/org/autoloop/internal/plain"
)

// position is where the branches stand, and what is pushed onto what.
type position struct {
	// Base is the head of the default branch BaseBranch.
	Base, BaseBranch string
	// Branch is the program branch's commit; "" when there is no branch.
	Branch string
	// Head is the incumbent, with the default branch in it: what candidates are measured against.
	// Start is what an agent begins with: for a fix of what CI found the commit that waits, and
	// else Head.
	Head, Start string
	// PushOnto is the commit that stands for Head on the program branch: Head itself or, where the
	// remote does not let the branch have the default branch, Branch.
	PushOnto string
	// Deleted says that the remote has no branch at Branch any more: it was deleted when
	// its pull request was merged, and begins anew there.
	Deleted bool
	// Note says what synchronisation did; "" when nothing.
	Note string

	entries  []git.TreeEntry // the incumbent's tracked files
	identity                 // what its measurement means
}

// moves reports whether the program branch has to move before anything is pushed onto it.
func (p position) moves() bool { return p.Branch != "" && p.Branch != p.PushOnto }

// onOwnBase lets the branch stay on the base that it has: what is built and
// measured is the branch merged with the default branch, and only the candidate's
// own commits are pushed.
func (p position) onOwnBase() position {
	p.PushOnto = p.Branch
	return p
}

// moveTo is the move of the program branch to a commit.
func (p position) moveTo(ref, commit string) *git.RefUpdate {
	move := &git.RefUpdate{Ref: ref, New: commit, Old: p.Branch}
	if p.Deleted {
		move.Old = ""
	}
	return move
}

// conflicts says that files of base cannot be merged into the program branch.
func (s *session) conflicts(base string, files []string) error {
	reason := decision.Reason{Kind: decision.Conflict, Term: base, Path: s.branch(), Words: plain.Paths(files, 10)}
	return &endedError{outcome: history.Error, reasons: []decision.Reason{reason}, conflict: true}
}

// sync says where the branches stand now.
func (r *run) sync(ctx context.Context) (at position, err error) {
	if at.BaseBranch, at.Base, err = r.base(ctx); err == nil {
		at.Branch, err = r.head(ctx)
	}
	if err != nil {
		return at, err
	}
	return r.place(ctx, at, r.mergedHead())
}

// place compares the program branch with the default branch: no branch stands at the default branch's
// head; what came after a merged pull request, whose head was merged, is replayed there; a branch with
// nothing of its own moves there; one that is behind gets the default branch merged; else it stays
// as it is. It keeps its own base where the remote did not let it have that one.
func (r *run) place(ctx context.Context, at position, merged string) (position, error) {
	after, err := r.isAfterMerge(ctx, merged, at.Branch, at.Base)
	switch {
	case err != nil:
	case at.Branch == "" || at.Branch == at.Base:
		at.Head = at.Base
	case after:
		at.Head, at.Note, err = r.replay(ctx, at.Branch, at.Base)
	default:
		at.Head, at.Note, err = r.reconciled(ctx, at)
	}
	at.Start, at.PushOnto = at.Head, at.Head
	if at.moves() && r.records.WorkflowsRefused == at.Base {
		at = at.onOwnBase()
	}
	return at, err
}

// reconciled is the commit of the program branch that has the default branch in it, and what
// became of the branch.
func (r *run) reconciled(ctx context.Context, at position) (head, note string, err error) {
	if err := r.deepen(ctx); err != nil {
		return "", "", err
	}
	unique, behind, err := r.Repo.AheadBehind(ctx, at.Branch, at.Base)
	switch {
	case err != nil || behind == 0:
		return at.Branch, "", err
	case unique == 0:
		return at.Base, fmt.Sprintf("moved to %s", at.BaseBranch), nil
	}
	head, err = r.merge(ctx, at.Branch, at.Base, at.BaseBranch, r.signed("Merge %s\n\n", at.BaseBranch))
	return head, fmt.Sprintf("merged %s (%d commits)", at.BaseBranch, behind), err
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

func (r *run) baseCommit(ctx context.Context, branch string) (commit string, err error) {
	ref, do := "refs/heads/"+branch, "commit something"
	if r.Memory.Remote == "" {
		commit, _, err = r.Repo.Resolve(ctx, ref)
	} else { // No ref of the user's is written for it.
		var refs map[string]string
		remote := r.Repo.Remote(r.Memory.Remote)
		if refs, err = remote.Refs(ctx, ref); refs[ref] != "" {
			commit, err = refs[ref], remote.Obtain(ctx, refs[ref], ref)
		}
		do = "push it to " + r.Memory.Remote
	}
	if err == nil && commit == "" {
		err = fmt.Errorf("default branch %s has no commit at %s: %s, or name another branch with --base", branch, ref, do)
	}
	return commit, err
}

// deepen makes a shallow clone whole before ahead and behind are believed.
func (r *run) deepen(ctx context.Context) error {
	if err := r.Repo.Remote(cmp.Or(r.Memory.Remote, "origin")).Unshallow(ctx); err != nil {
		return fmt.Errorf("this clone is shallow, so what the branches have in common cannot be told; run `git fetch "+
			"--unshallow`: %w", err)
	}
	return nil
}

// positionOfProposal finds the position that the proposal was made from, and
// refuses the proposal when a branch has moved since.
func (r *run) positionOfProposal(ctx context.Context, from *Proposal) (position, error) {
	at, head, known := position{Base: from.Base}, "", false
	err := r.deepen(ctx)
	if err == nil {
		at.BaseBranch, head, err = r.base(ctx)
	}
	if err == nil {
		known, err = r.Repo.IsAncestor(ctx, from.Base, head)
	}
	if err == nil {
		at.Branch, err = r.head(ctx)
	}
	if err == nil && at.Branch == "" && r.merged(from.Branch) {
		at.Branch, at.Deleted = from.Branch, true // GitHub keeps the commits of a pull request
		pull := fmt.Sprintf("refs/pull/%d/head", r.comments.Pull.Number)
		err = r.Repo.Remote(r.Memory.Remote).Obtain(ctx, from.Branch, pull)
	}
	switch {
	case err != nil:
		return at, err
	case at.BaseBranch != from.BaseBranch:
		return at, refuse("it is for branch %q, not for %q", from.BaseBranch, at.BaseBranch)
	case !known:
		return at, refuse("it was made from commit %.12s, which is not on %s", from.Base, at.BaseBranch)
	case at.Branch != from.Branch:
		return at, r.moved()
	}
	// What was merged after the proposal stays below it: what is kept goes on top, and is replayed.
	for _, merged := range []string{r.mergedHead(), ""} {
		if at, err = r.place(ctx, at, merged); conflict(err) != nil {
			err = r.moved()
		}
		if err == nil {
			err = r.madeFrom(ctx, at.Head, from)
		}
		if _, refused := errors.AsType[*RefusedError](err); !refused || !r.merged(at.Branch) {
			break
		}
	}
	if err == nil {
		at, err = r.identified(ctx, at)
	}
	at.Executor = from.Executor()
	return at, err
}

func (r *run) moved() error {
	return refuse("it is stale: branch %s has moved since; propose again", r.branch())
}

// madeFrom refuses a proposal that was made from other files than those of a commit.
func (r *run) madeFrom(ctx context.Context, commit string, p *Proposal) error {
	tree, _, err := r.Repo.TreeOf(ctx, commit)
	if err == nil && tree != p.Incumbent {
		err = refuse("it was made from other files than those of %s", r.branch())
	}
	return err
}

// positionOfFix is where the pending iteration stands. It refuses a bundle that was
// made from another position.
func (r *run) positionOfFix(ctx context.Context, from *Proposal, e history.Decided) (at position, err error) {
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
		err = refuse("it was made from commit %.12s of %s, and the baseline is of %.12s of %s", from.Base,
			from.BaseBranch, at.Base, at.BaseBranch)
	}
	if err == nil {
		err = r.madeFrom(ctx, at.Start, from)
	}
	return at, err
}

// withBase returns a commit with the default branch in it: the commit itself, or
// the merge of both, which is not pushed.
func (r *run) withBase(ctx context.Context, commit, base string) (string, error) {
	has, err := r.Repo.IsAncestor(ctx, base, commit)
	if err != nil || has {
		return commit, err
	}
	return r.merge(ctx, commit, base, base[:12], "merged\n")
}

// commitOnBase makes the commit of a candidate. On a branch that lacks the default branch it
// has the candidate's own change alone, and merging it has to give what was measured.
func (r *run) commitOnBase(ctx context.Context, at position, parent, candidate, message string) (commit string,
	err error,
) {
	if at.PushOnto == at.Head {
		return r.commitTree(ctx, candidate, message, parent)
	}
	merged := ""
	tree, conflicts, err := r.threeWay(ctx, at.Start, parent, candidate)
	if err == nil && len(conflicts) == 0 {
		commit, err = r.commitTree(ctx, tree, message, parent)
	}
	if err == nil && commit != "" {
		merged, conflicts, err = r.Repo.MergeTree(ctx, commit, at.Base)
	}
	if err == nil && len(conflicts) == 0 && merged != candidate {
		changes, failed := r.Repo.Changes(ctx, merged, candidate)
		conflicts, err = git.Paths(changes), failed
	}
	if err == nil && len(conflicts) > 0 {
		err = refuse("%s", decision.Reason{
			Kind: decision.PushNeedsMerge, Path: r.branch(), Words: plain.Paths(conflicts, maxListed),
		})
	}
	return commit, err
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
