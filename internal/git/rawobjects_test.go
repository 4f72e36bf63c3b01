package git_test

import (
	"encoding/hex"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

// raw writes an object as it is, whatever git would say of it.
func (f *fixture) raw(kind, text string) string {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), "git", "hash-object", "-t", kind, "--literally", "-w", "--stdin")
	cmd.Dir, cmd.Env, cmd.Stdin = f.dir, f.env, strings.NewReader(text)
	out, err := cmd.Output()
	require.NoError(f.t, err)
	return strings.TrimSpace(string(out))
}

// TestModesAreReadAsGitDoes: old versions of git and other programs wrote some that git
// writes no more.
func TestModesAreReadAsGitDoes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	blob, commit := f.user("rev-parse", "HEAD:a"), f.head()
	entry := func(mode, name, id string) string {
		bytes, err := hex.DecodeString(id)
		require.NoError(t, err)
		return mode + " " + name + "\x00" + string(bytes)
	}
	inner := f.raw("tree", entry("100644", "x", blob))
	modes := []string{
		"100644", "100755", "120000", "160000", "40000", "040000", "0040000", "100664", "100600", "100666", "100777",
		"100711", "100654", "100000", "0100644", "120777", "120644", "40755", "160644", "644", "10644", "110644", "0",
	}
	text := entry("100644", "a", blob)
	var names []string
	for i, mode := range modes {
		id := commit // git takes what is neither a file, a link nor a directory for another repository
		switch {
		case strings.HasSuffix(mode, "40000"), mode == "40755":
			id = inner
		case strings.HasPrefix(mode, "100"), strings.HasPrefix(mode, "120"), mode == "0100644":
			id = blob
		}
		names = append(names, fmt.Sprintf("m%02d", i))
		text += entry(mode, names[i], id)
	}
	tree := f.raw("tree", text)
	listed := func(flags ...string) (entries []git.TreeEntry) {
		for line := range strings.Lines(f.user(append(append([]string{"ls-tree"}, flags...), tree)...) + "\n") {
			var e git.TreeEntry
			_, err := fmt.Sscanf(line, "%s %s %s\t%s", &e.Mode, &e.Type, &e.ID, &e.Path)
			require.NoError(t, err)
			entries = append(entries, e)
		}
		return entries
	}
	root, err := f.repo.LsRoot(t.Context(), tree)
	require.NoError(t, err)
	assert.Equal(t, listed(), root)
	whole, err := f.repo.LsTree(t.Context(), tree)
	require.NoError(t, err)
	assert.Equal(t, listed("-r"), whole)
	found, err := f.repo.LsFiles(t.Context(), tree, names...)
	require.NoError(t, err)
	require.Len(t, found, len(names))
	for i, one := range found {
		one.Size = 0
		assert.Equal(t, root[i+1], one, modes[i])
	}
	for name, text := range map[string]string{
		"no mode": entry("", "m", blob), "no number": entry("what", "m", blob),
		"a digit above seven": entry("100648", "m", blob), "cut off": entry("100644", "m", blob)[:20],
		"no name": "100644",
	} {
		tree := f.raw("tree", entry("100644", "a", blob)+text)
		_, err := f.repo.LsRoot(t.Context(), tree)
		require.Error(t, err, name)
		_, err = f.repo.LsTree(t.Context(), tree)
		require.Error(t, err, name)
		_, err = f.repo.LsFiles(t.Context(), tree, "a")
		require.Error(t, err, name)
		_, err = f.repo.WriteFiles(t.Context(), tree, map[string]*git.File{"b": {Data: []byte("b")}})
		require.Error(t, err, name)
	}
}
