package git_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/tests/golden"
)

// TestVersionsAreWhatCommitsChanged: along first parents, of one file, content or mode.
func TestVersionsAreWhatCommitsChanged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const path = "p-ä [x]*.jsonl"
	commit := func(content, mode string, parents ...string) string {
		files := map[string]*git.File{path: nil, "other": {Data: []byte(fmt.Sprint(parents))}}
		if content != "" {
			files[path] = &git.File{Data: []byte(content), Mode: mode}
		}
		base := ""
		if len(parents) > 0 {
			base = parents[0]
		}
		tree := must(f.repo.WriteFiles(t.Context(), base, files))
		id := must(f.repo.CommitTree(t.Context(), tree, parents, "m\n", fixed))
		return id
	}
	side := commit("of a side", git.ModeFile)
	var parents, names []string
	for _, version := range []struct{ content, mode, name string }{
		{"one", git.ModeFile, "added"},
		{"one", git.ModeFile, ""},
		{"two", git.ModeFile, "changed"},
		{"two", git.ModeFile, ""}, // merges the side
		{"of a side", git.ModeFile, "taken"},
		{"", "", "away"},
		{"two", git.ModeExecutable, "again"},
		{"two", git.ModeFile, "mode"},
	} {
		id := commit(version.content, version.mode, parents...)
		parents = []string{id, side}
		if version.name != "" {
			f.Git("tag", version.name, id)
			names = append([]string{version.name}, names...)
		}
	}
	got := must(f.repo.Versions(t.Context(), path, parents[0]))
	require.Len(t, got, len(names))
	before := git.DiffEntry{}
	for i := len(got) - 1; i >= 0; i-- {
		entry := got[i]
		assert.Equal(t, f.Git("rev-parse", names[i]), entry.Commit, names[i])
		assert.Equal(t, []string{path, before.NewMode, before.NewID}, []string{entry.Path, entry.OldMode, entry.OldID})
		assert.Equal(t, entry.NewMode == "", entry.NewID == "")
		assert.NotEqual(t, before.NewMode+before.NewID, entry.NewMode+entry.NewID)
		before = entry
	}
	for _, rev := range []string{"none", "--all"} { // a revision is no flag
		_, err := f.repo.Versions(t.Context(), path, rev)
		require.Error(t, err)
	}
}

// TestWhyAPushWasRefused: it is tried again when nothing but the movement of refs, or a lock
// of one, is in its way.
func TestWhyAPushWasRefused(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{
		"one of two moved":           "[rejected] (stale info); [rejected] (atomic push failed)",
		"the second moved":           "[rejected] (atomic push failed); [rejected] (stale info)",
		"both moved":                 "[rejected] (stale info); [rejected] (fetch first)",
		"a hook, and one moved":      "[rejected] (stale info); [remote rejected] (pre-receive hook declined)",
		"a hook for one":             "[remote rejected] (pre-receive hook declined); [rejected] (atomic push failed)",
		"each for the other's sake":  "[rejected] (atomic push failed); [rejected] (atomic push failed)",
		"for the sake of itself":     "[rejected] (atomic push failed)",
		"two pushes at once":         "[remote rejected] (cannot lock ref 'refs/heads/a': is at 1 but expected 2)",
		"two that make it":           "[remote rejected] (reference already exists)",
		"checked out there meantime": "[remote rejected] (remote ref updated since checkout)",
		"checked out there":          "[remote rejected] (branch is currently checked out)",
		"protected":                  "[remote rejected] (protected branch hook declined)",
	}, func(t *testing.T, reasons string) any {
		refused := &git.RejectedError{Remote: "origin"}
		for i, reason := range strings.Split(reasons, "; ") {
			refused.Refs = append(refused.Refs, git.Rejection{Ref: "refs/heads/" + string("ab"[i]), Reason: reason})
		}
		require.ErrorIs(t, refused, git.ErrRejected)
		return fmt.Sprintf("stale=%t %q", errors.Is(refused, git.ErrStale), refused.Error())
	})
	refused := &git.RejectedError{
		Remote: "origin", Lock: "/srv/it's/a.lock",
		Refs: []git.Rejection{{Ref: "refs/heads/a", Reason: "[remote rejected] (failed to update ref)"}},
	}
	require.ErrorIs(t, refused, git.ErrStale)
	assert.Contains(t, refused.Error(), `rm '/srv/it'\''s/a.lock'`)
}
