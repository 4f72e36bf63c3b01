package memory

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

// invented is a listing of names by chance that begin alike, in the order that
// gitformat-tree says: by bytes, a directory as if its name ended in a slash.
func invented(chance *rand.Rand, most int) listing {
	letters := []string{"a", "b", "-", ".", "0", "/"[:0], "md", ".md", ".jsonl", "\xff", " "}
	taken := map[string]bool{}
	var l listing
	for range chance.IntN(most) {
		var name strings.Builder
		for range 1 + chance.IntN(4) {
			name.WriteString(letters[chance.IntN(len(letters))])
		}
		if name.Len() == 0 || taken[name.String()] {
			continue
		}
		taken[name.String()] = true
		mode := []string{git.ModeFile, git.ModeExecutable, git.ModeSymlink, git.ModeSubmodule, git.ModeDirectory, git.ModeDirectory}[chance.IntN(6)]
		l = append(l, git.TreeEntry{Mode: mode, Path: name.String()})
	}
	as := func(e git.TreeEntry) string {
		if e.Mode == git.ModeDirectory {
			return e.Path + "/"
		}
		return e.Path
	}
	slices.SortFunc(l, func(a, b git.TreeEntry) int { return strings.Compare(as(a), as(b)) })
	return l
}

// TestEntriesAreFoundAsIfAllWereLookedAt: files and directories, also among names of which
// one is the beginning of another.
func TestEntriesAreFoundAsIfAllWereLookedAt(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(11, 1))
	found := 0
	for range 400 {
		l := invented(chance, 40)
		asked := []string{"", "a", "a.", "a-", "a0", "b.md", "zzz"}
		for _, e := range l {
			asked = append(asked, e.Path, e.Path+"a", e.Path[:len(e.Path)-1])
		}
		for _, path := range asked {
			at := slices.IndexFunc(l, func(e git.TreeEntry) bool { return e.Path == path })
			got, is := l.find(path)
			if at < 0 {
				require.False(t, is, "%q in %q", path, l)
				continue
			}
			found++
			require.True(t, is, "%q in %q", path, l)
			require.Equal(t, l[at], got)
		}
	}
	require.Greater(t, found, 1000)
}

// TestStatesInAListing: of what people put there too, those that are named like one.
func TestStatesInAListing(t *testing.T) {
	t.Parallel()
	var l listing
	for _, name := range []string{".hidden.md", ".md", "README", "a.b.md", "a.jsonl", "a.ledger", "a.md", "a.md.bak", "a.results.tsv", "b\nc.md", "b\\c.md", "d.MD", "e .md", "ü.md"} {
		l = append(l, git.TreeEntry{Mode: git.ModeFile, Path: name, ID: "id of " + name})
	}
	var names []string
	for _, s := range l.states() {
		names = append(names, s.program)
		assert.Equal(t, s.program+".md", s.Path)
		assert.Equal(t, "id of "+s.Path, s.ID)
	}
	assert.Equal(t, []string{"a.b", "a", "e ", "ü"}, names)
	assert.Empty(t, listing{}.states())
}
