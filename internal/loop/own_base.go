package loop

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop/proposal"
)

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
	merged, conflicts, err := r.Repo.MergeTree(ctx, commit, base)
	switch {
	case err != nil:
		return "", err
	case len(conflicts) > 0:
		return "", &conflictError{branch: r.branch(), base: base[:12], files: conflicts}
	}
	return r.Repo.CommitTree(ctx, merged, []string{commit, base}, "merged\n", r.Now())
}

// commitOnBase makes the commit of a candidate. On a branch that lacks the default branch it
// has the candidate's own change alone, and merging it has to give what was measured.
func (r *run) commitOnBase(ctx context.Context, at position, parent, candidate, message string) (string, error) {
	tree, merged := candidate, candidate
	var conflicts []string
	var err error
	if at.Tip != "" {
		tree, conflicts, err = threeWay(ctx, r.Repo, at.start(), parent, candidate, r.Now())
	}
	if err != nil || len(conflicts) > 0 {
		return "", cmp.Or(err, proposal.Refuse("%s", r.needsWorkflows(conflicts)))
	}
	commit, err := r.Repo.CommitTree(ctx, tree, []string{parent}, message, r.Now().Truncate(time.Second))
	if err == nil && at.Tip != "" {
		merged, conflicts, err = r.Repo.MergeTree(ctx, commit, at.Base)
	}
	if err == nil && (len(conflicts) > 0 || merged != candidate) {
		err = proposal.Refuse("%s", r.needsWorkflows(conflicts))
	}
	return commit, err
}

func (r *run) needsWorkflows(files []string) decision.Reason {
	return decision.Reason{
		Kind: decision.PushNeedsMerge, Path: r.branch(),
		Words: strings.Join(files[:min(len(files), 5)], ", "),
	}
}

// threeWay merges two trees or commits whose common one is base. Git's merge takes
// no base, so three commits are made that have it.
func threeWay(ctx context.Context, repo *git.Repo, base, ours, theirs string, now time.Time) (tree string,
	conflicts []string, err error,
) {
	var commits []string
	for _, from := range []string{base, ours, theirs} {
		commit, err := repo.CommitTree(ctx, from+"^{tree}", commits[:min(len(commits), 1)], "merging\n",
			now.Truncate(time.Second))
		if err != nil {
			return "", nil, err
		}
		commits = append(commits, commit)
	}
	return repo.MergeTree(ctx, commits[1], commits[2])
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
