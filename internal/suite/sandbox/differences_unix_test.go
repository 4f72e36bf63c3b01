//go:build unix

package sandbox_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// drawTexts draws text files of odd names, some of which run, with lines that they share.
func drawTexts(chance *rand.Rand) map[string]string {
	names := []string{"a", "b", "a b", `q"q`, `b\b`, "t\tt", "ü", "d/a", "d/e/a", "d"}
	tree := map[string]string{}
	for range chance.IntN(7) {
		name := names[chance.IntN(len(names))]
		inTheWay := false
		for other := range tree {
			inTheWay = inTheWay || below(name, other) || below(other, name)
		}
		if inTheWay {
			continue
		}
		var text strings.Builder
		if chance.IntN(3) == 0 {
			text.WriteString("-rwxr-xr-x ") // as dir.has shows it
		}
		for range chance.IntN(12) {
			text.WriteString([]string{
				"same\n", "other\n", "\n", "-\n", "+\n", "@@ -1 +1 @@\n", "\\ No newline\n",
				"--- a/x\n", "line of " + name + "\n",
			}[chance.IntN(9)])
		}
		if chance.IntN(4) == 0 {
			text.WriteString("no line break")
		}
		tree[name] = text.String()
	}
	return tree
}

// fill makes the files that dir.has would show.
func (d dir) fill(tree map[string]string) {
	d.t.Helper()
	for name, text := range tree {
		if rest, runs := strings.CutPrefix(text, "-rwxr-xr-x "); runs {
			d.put(name, rest, 0o755)
		} else {
			d.put(name, text, 0o644)
		}
	}
}

// TestAnyDiffIsOneForGit: what git makes of the fixture with the diff is what the agent
// left, and the list has what differs.
func TestAnyDiffIsOneForGit(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(121, 122))
	for round := range 40 {
		before, after := drawTexts(chance), drawTexts(chance)
		fixture := newDir(t, nil)
		fixture.fill(before)
		box, in := open(t, fixture, nil)
		entries, err := os.ReadDir(in.path)
		require.NoError(t, err)
		for _, entry := range entries {
			require.NoError(t, os.RemoveAll(in.at(entry.Name())))
		}
		in.fill(after)
		changes, err := box.Changes(t.Context())
		require.NoError(t, err)
		var want, found []string
		for name := range before {
			if now, there := after[name]; !there || now != before[name] {
				want = append(want, name)
			}
		}
		for name := range after {
			if _, there := before[name]; !there {
				want = append(want, name)
			}
		}
		for _, c := range changes.List {
			found = append(found, c.Path)
		}
		slices.Sort(want)
		require.Equal(t, want, found, "round %d", round)
		if len(want) == 0 {
			require.Empty(t, changes.Diff)
			continue
		}
		cmd := exec.CommandContext(t.Context(), "git", "apply", "-")
		cmd.Dir, cmd.Stdin = fixture.path, strings.NewReader(changes.Diff)
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(fixture.path))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "round %d: %s\n%s", round, out, changes.Diff)
		require.Equal(t, after, fixture.has(), "round %d:\n%s", round, changes.Diff)
	}
}

// TestHowLargeADiffIs: a file that is too large for lines, and changes for which there is no
// room, are said to be left out; the list has them all the same.
func TestHowLargeADiffIs(t *testing.T) {
	t.Parallel()
	box, in := open(t, newDir(t, map[string]string{"was": "x\n"}), nil)
	lines := func(bytes int) string {
		return strings.Repeat(strings.Repeat("x", 999)+"\n", bytes/1000) + strings.Repeat("y", bytes%1000)
	}
	in.put("a-largest", lines(1<<20), 0o644)
	in.put("b-larger", lines(1<<20+1), 0o644)
	in.put("c-fits", lines(1_000_000), 0o644)
	in.put("d-no-room", lines(100_000), 0o644)
	in.put("e-no-room", lines(1_000_000), 0o644)
	in.put("f-fits", lines(10_000), 0o644)
	in.put("was", "y\n", 0o644)
	changes, err := box.Changes(t.Context())
	require.NoError(t, err)
	assert.Len(t, changes.List, 7)
	for name, want := range map[string]bool{
		"a-largest": true, "c-fits": true, "d-no-room": false, "e-no-room": false,
		"f-fits": true, "was": true,
	} {
		assert.Equal(t, want, strings.Contains(changes.Diff, "+++ b/"+name+"\n"), name)
	}
	assert.Contains(t, changes.Diff, "Binary files /dev/null and b/b-larger differ\n")
	assert.True(t, strings.HasSuffix(changes.Diff,
		"\n# the changes of 2 more files are left out: the diff would be larger than 2097152 bytes\n"))
	assert.LessOrEqual(t, len(changes.Diff), 2<<20+200)
}

// TestLeftoversOfPackageManagers is listed, and not in the diff: only below their directories,
// wherever these are.
func TestLeftoversOfPackageManagers(t *testing.T) {
	t.Parallel()
	box, in := open(t, newDir(t, nil), nil)
	theirs := []string{
		"node_modules/a", "deep/er/node_modules/p/q/a", ".venv/bin/a", "x/__pycache__/a.pyc", ".pytest_cache/a",
		".mypy_cache/a", ".ruff_cache/a", ".gradle/a", ".npm/a", ".cache/pip/a",
	}
	ours := []string{
		"node_modules.txt", "my.cache/a", "cache/a", "x/node_modules2/a", ".CACHE/a", "venv/a", "y/.npm",
		".cached/a",
	}
	for _, name := range slices.Concat(theirs, ours) {
		in.put(name, "x\n", 0o644)
	}
	changes, err := box.Changes(t.Context())
	require.NoError(t, err)
	assert.Len(t, changes.List, len(theirs)+len(ours))
	for _, name := range theirs {
		assert.NotContains(t, changes.Diff, "b/"+name+"\n", name)
	}
	for _, name := range ours {
		assert.Contains(t, changes.Diff, "+++ b/"+name+"\n", name)
	}
	assert.Contains(t, changes.Diff, "# 10 changed files in directories of package managers and caches are left out\n")
}

// TestNamesInADiff stand on one line each, and none ends its header or begins another.
func TestNamesInADiff(t *testing.T) {
	t.Parallel()
	box, in := open(t, newDir(t, nil), nil)
	names := map[string]string{
		"plain": "b/plain", "with space": "b/with space", "ü": "b/ü", "new\nline": `"b/new\nline"`,
		"new\n+++ b/line": `"b/new\n+++ b/line"`, "tab\t": `"b/tab\t"`,
		`quote"`: `"b/quote\""`, `back\slash`: `"b/back\\slash"`, "bad\xff": `"b/bad\xff"`, "\x1b[2J": `"b/\x1b[2J"`,
		"dir/a\rb": `"b/dir/a\rb"`,
	}
	for name := range names {
		in.put(name, "x\n", 0o644)
	}
	changes, err := box.Changes(t.Context())
	require.NoError(t, err)
	assert.Equal(t, len(names), strings.Count(changes.Diff, "diff --git "))
	for name, want := range names {
		assert.Equal(t, 1, strings.Count(changes.Diff, "\n+++ "+want+"\n"), "%q", name)
	}
	assert.Equal(t, 6*len(names), strings.Count(changes.Diff, "\n"), "a header of four lines, a hunk of two")
	for _, line := range strings.Split(changes.Diff, "\n") {
		assert.NotContains(t, line, "\x1b")
		assert.NotContains(t, line, "\r")
	}
}
