package git_test

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

// raw writes an object as it is, whatever git would say of it.
func (f *fixture) raw(kind, text string) string {
	f.t.Helper()
	return must(f.Try(text, "hash-object", "-t", kind, "--literally", "-w", "--stdin"))
}

// TestModesAreReadAsGitDoes: old versions of git and other programs wrote some that git
// writes no more.
func TestModesAreReadAsGitDoes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	blob, commit := f.Git("rev-parse", "HEAD:a"), f.head()
	entry := func(mode, name, id string) string {
		bytes := must(hex.DecodeString(id))
		return mode + " " + name + "\x00" + string(bytes)
	}
	inner := f.raw("tree", entry("100644", "x", blob))
	modes := map[string]string{ // git takes what is neither a file, a link nor a directory for another repository
		"100644": blob, "100755": blob, "120000": blob, "160000": commit, "40000": inner, "0040000": inner,
		"100664": blob, "100777": blob, "100654": blob, "0100644": blob, "120777": blob, "40755": inner,
		"160644": commit, "644": commit, "110644": commit, "0": commit,
	}
	var names []string
	text := entry("100644", "a", blob)
	for _, mode := range slices.Sorted(maps.Keys(modes)) {
		names = append(names, "m"+mode)
		text += entry(mode, "m"+mode, modes[mode])
	}
	tree := f.raw("tree", text)
	listed := func(flags ...string) (entries []git.TreeEntry) {
		for line := range strings.Lines(f.Git(append(append([]string{"ls-tree"}, flags...), tree)...) + "\n") {
			var e git.TreeEntry
			_, err := fmt.Sscanf(line, "%s %s %s\t%s", &e.Mode, &e.Type, &e.ID, &e.Path)
			require.NoError(t, err)
			entries = append(entries, e)
		}
		return entries
	}
	root := must(f.repo.LsFiles(t.Context(), tree))
	for i := range root {
		root[i].Size = 0
	}
	assert.Equal(t, listed(), root)
	whole := must(f.repo.LsTree(t.Context(), tree))
	assert.Equal(t, listed("-r"), whole)
	found := must(f.repo.LsFiles(t.Context(), tree, names...))
	require.Len(t, found, len(names))
	for i, one := range found {
		one.Size = 0
		assert.Equal(t, root[i+1], one, names[i])
	}
	for name, text := range map[string]string{
		"no mode": entry("", "m", blob), "no number": entry("what", "m", blob),
		"a digit above seven": entry("100648", "m", blob), "cut off": entry("100644", "m", blob)[:20],
		"no name": "100644",
	} {
		tree := f.raw("tree", entry("100644", "a", blob)+text)
		_, root := f.repo.LsFiles(t.Context(), tree)
		_, whole := f.repo.LsTree(t.Context(), tree)
		_, some := f.repo.LsFiles(t.Context(), tree, "a")
		_, written := f.repo.WriteFiles(t.Context(), tree, map[string]*git.File{"b": {}})
		for _, err := range []error{root, whole, some, written} {
			require.Error(t, err, name)
		}
	}
}
