package loop

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

// Words with which GitHub refuses a push.
const (
	noWorkflows = "refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without " +
		"`workflows` permission"
	protected = "protected branch hook declined"
)

// TestRefusedPushOfProgramBranch is something that a person can do something about;
// that of the memory branch is not, and neither is a ref that has moved.
func TestRefusedPushOfProgramBranch(t *testing.T) {
	t.Parallel()
	const program, memory = "refs/heads/autoloop/p", "refs/heads/memory/autoloop"
	refused := func(refs ...git.Rejection) error { return &git.RejectedError{Remote: "origin", Refs: refs} }
	atomic := "atomic push failed"
	for name, c := range map[string]struct {
		err       error
		says      string // "" when it is no such refusal
		workflows bool
	}{
		"a branch that moved": {refused(git.Rejection{Ref: program, Reason: "stale info"}), "", false},
		"the memory branch": {refused(git.Rejection{Ref: program, Reason: atomic},
			git.Rejection{Ref: memory, Reason: protected}), "", false},
		"the program branch": {refused(git.Rejection{Ref: program, Reason: protected},
			git.Rejection{Ref: memory, Reason: atomic}), "leave `autoloop/**` out of the branch's", false},
		"a hook": {
			refused(git.Rejection{Ref: program, Reason: "pre-receive hook declined"}),
			"let the server's hook take pushes", false,
		},
		"other words": {
			refused(git.Rejection{Ref: program, Reason: "no"}),
			"at what the remote allows the token on", false,
		},
		"workflows": {
			refused(git.Rejection{Ref: program, Reason: noWorkflows}, git.Rejection{Ref: memory, Reason: atomic}),
			"`workflow`, or take `.github/workflows`", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reason := pushRefusal(c.err)
			assert.Equal(t, c.workflows, refusedForWorkflows(c.err))
			if c.says == "" {
				assert.Empty(t, reason)
				return
			}
			assert.Contains(t, reason.String(), c.says)
			assert.NotContains(t, reason.String(), "\n")
		})
	}
}

// forked is a repository whose program branch and default branch have both moved on:
// autoloop/p changed value.txt, main other.txt.
func forked(t *testing.T) (b *fixture, r *run, at position) {
	t.Helper()
	b = newFixture(t, "", "1")
	tree := b.treeWith("main", map[string]string{"value.txt": "2\n"})
	at.Branch = b.git("commit-tree", tree, "-p", "main", "-m", "kept")
	b.git("update-ref", "refs/heads/autoloop/p", at.Branch)
	b.commit(map[string]string{"other.txt": "a person's\n", "more.txt": "more\n"})
	at.Base, at.BaseBranch = b.git("rev-parse", "main"), "main"
	return b, b.service.begin(), at
}

// treeWith is the tree of a commit with other texts in some files; an empty one removes
// its file.
func (b *fixture) treeWith(from string, files map[string]string) string {
	b.t.Helper()
	written := map[string]*git.File{}
	for path, text := range files {
		if written[path] = nil; text != "" {
			written[path] = &git.File{Data: []byte(text)}
		}
	}
	return b.treeOf(from, written)
}

// treeOf is the tree of a commit with other files.
func (b *fixture) treeOf(from string, files map[string]*git.File) string {
	b.t.Helper()
	tree, err := b.service.Repo.WriteFiles(b.t.Context(), from, files)
	require.NoError(b.t, err)
	return tree
}

// TestWithTheDefaultBranch: the commit that is measured has the default branch in it, as
// git merges it, and no ref is moved for it.
func TestWithTheDefaultBranch(t *testing.T) {
	t.Parallel()
	b, r, at := forked(t)
	before := b.refs()
	same, err := r.withBase(t.Context(), at.Base, b.git("rev-parse", "main~1"))
	require.NoError(t, err)
	assert.Equal(t, at.Base, same)
	merged, err := r.withBase(t.Context(), at.Branch, at.Base)
	require.NoError(t, err)
	assert.Equal(t, at.Branch+" "+at.Base, b.git("log", "-1", "--format=%P", merged))
	assert.Equal(t, b.git("merge-tree", "--write-tree", at.Branch, at.Base), b.git("rev-parse", merged+"^{tree}"))
	_, err = r.withBase(t.Context(), at.Branch, strings.Repeat("1", 40))
	require.Error(t, err)
	assert.Equal(t, before, b.refs())
	b.commit(map[string]string{"value.txt": "3\n"})
	_, err = r.withBase(t.Context(), at.Branch, b.git("rev-parse", "main"))
	require.ErrorContains(t, err,
		"not merge into autoloop/p, both changed")
}

// TestCommitOnOwnBase: where the default branch may not be pushed, the commit has the
// candidate's own change alone, and merging the default branch gives what was measured.
func TestCommitOnOwnBase(t *testing.T) {
	t.Parallel()
	b, r, at := forked(t)
	head, err := r.withBase(t.Context(), at.Branch, at.Base)
	require.NoError(t, err)
	at.Head, at.Start, at.PushOnto = head, head, head
	own := at.onOwnBase()
	assert.False(t, own.moves(), "the merge is not pushed")
	before := b.refs()
	candidate := b.treeWith(head, map[string]string{"value.txt": "9\n", "new.txt": "new\n"})
	commit, err := r.commitOnBase(t.Context(), at, at.PushOnto, candidate, "as it is\n")
	require.NoError(t, err)
	assert.Equal(t, candidate+" "+head, b.git("log", "-1", "--format=%T %P", commit))

	commit, err = r.commitOnBase(t.Context(), own, own.PushOnto, candidate, "its own\n")
	require.NoError(t, err)
	assert.Equal(t, at.Branch, b.git("log", "-1", "--format=%P", commit))
	assert.Equal(t, "new.txt\nvalue.txt", b.git("diff", "--name-only", at.Branch, commit), "nothing of the default branch")
	assert.Equal(t, candidate, b.git("merge-tree", "--write-tree", commit, at.Base))
	for name, files := range map[string]map[string]string{
		"what the default branch changed":   {"other.txt": "the candidate's\n"},
		"what the default branch made away": {"more.txt": ""},
	} {
		_, err := r.commitOnBase(t.Context(), own, own.PushOnto, b.treeWith(head, files), "x\n")
		refused(t, err, name)
	}
	assert.Equal(t, before, b.refs())
}
