package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/golden"
	"github.com/org/autoloop/tests/testbox"
)

// left is the diff of what an agent left in a sandbox.
func left(t *testing.T, before, after files) string {
	t.Helper()
	box, in := open(t, before, nil)
	for name := range before {
		name, _, _ = strings.Cut(name, "/")
		require.NoError(t, os.RemoveAll(in.at(name)))
	}
	in.put(after)
	changes, err := box.Changes(t.Context())
	require.NoError(t, err)
	return changes
}

func TestChangesAsADiff(t *testing.T) {
	t.Parallel()
	diff := left(t, files{
		"a.txt": "one\ntwo\nthree\n", "b.txt": "b\n", "bin": "\x00", "d/x": "x\n", "mode.sh": "exit\n", "same": "s\n",
	}, files{
		"a.txt": "one\n2\nthree\n", "bin": "\x00\x00", "mode.sh": "-rwxr-xr-x exit\n", "same": "s\n",
		"new/file.txt": "fresh", "out": "-> /etc/passwd", "node_modules/m": "m",
	})
	golden.Equal(t, "changes.diff", diff)
}

func TestChangesOfAHostileAgent(t *testing.T) {
	t.Parallel()
	diff := left(t, files{"a": "1\n"}, files{"pipe": "|", strings.Repeat("d/", 200): "", "big": "size 3221225472"})
	assert.Contains(t, diff, "Binary files /dev/null and b/pipe")
	assert.Contains(t, diff, "Binary files /dev/null and b/big")
}

func TestChangesThatCannotBeLookedAt(t *testing.T) {
	t.Parallel()
	template, err := prepare(t, newDir(t, files{"a": "x\n"}), nil)
	require.NoError(t, err)
	box, err := testbox.Maker().Open(t.Context(), filepath.Join(t.TempDir(), "box"), template.Copy, nil)
	require.NoError(t, err)
	dir{t, box.Dir}.put(files{"b": "x\n"})
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(stopped)
	_, err = box.Changes(ctx)
	require.ErrorIs(t, err, stopped)
	require.NoError(t, os.RemoveAll(template.Dir))
	_, err = box.Changes(t.Context())
	require.ErrorIs(t, err, fs.ErrNotExist, "of what it is compared with nothing is left")
}

// drawTexts draws text files of odd names, some of which run, with lines that they share.
func drawTexts(chance *rand.Rand) files {
	names := []string{"a", "b", "a b", `q"q`, `b\b`, "t\tt", "ü", "d/a", "d/e/a", "d"}
	list := files{}
	for range chance.IntN(7) {
		name := names[chance.IntN(len(names))]
		if slices.ContainsFunc(slices.Collect(maps.Keys(list)), func(other string) bool {
			return strings.HasPrefix(name, other+"/") || strings.HasPrefix(other, name+"/")
		}) {
			continue
		}
		text := []string{"", "", "-rwxr-xr-x "}[chance.IntN(3)]
		for range chance.IntN(12) {
			text += []string{
				"same\n", "other\n", "\n", "-\n", "+\n", "@@ -1 +1 @@\n", "\\ No newline\n",
				"--- a/x\n", "line of " + name + "\n",
			}[chance.IntN(9)]
		}
		list[name] = text + []string{"", "", "", "no line break"}[chance.IntN(4)]
	}
	return list
}

// TestAnyDiffIsOneForGit: what git makes of the fixture with the diff is what the agent
// left.
func TestAnyDiffIsOneForGit(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(121, 122))
	for round := range 40 {
		before, after := drawTexts(chance), drawTexts(chance)
		differ := 0
		for name, text := range before {
			if now, there := after[name]; !there || now != text {
				differ++
			}
		}
		for name := range after {
			if _, there := before[name]; !there {
				differ++
			}
		}
		diff := left(t, before, after)
		require.Equal(t, differ, strings.Count("\n"+diff, "\ndiff --git "))
		if differ == 0 {
			continue
		}
		fixture := newDir(t, before)
		cmd := exec.CommandContext(t.Context(), "git", "apply", "-")
		cmd.Dir, cmd.Stdin = fixture.path, strings.NewReader(diff)
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(fixture.path))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "round %d: %s\n%s", round, out, diff)
		require.Equal(t, after, fixture.has(), "round %d:\n%s", round, diff)
	}
}

// TestHowLargeADiffIs: a file that is too large for lines, and changes for which there is no
// room, are said to be left out.
func TestHowLargeADiffIs(t *testing.T) {
	t.Parallel()
	lines := func(bytes int) string {
		return strings.Repeat(strings.Repeat("x", 999)+"\n", bytes/1000) + strings.Repeat("y", bytes%1000)
	}
	diff := left(t, files{"was": "x\n"}, files{
		"a-largest": lines(
			1 << 20,
		),
		"b-larger":  lines(1<<20 + 1),
		"c-fits":    lines(1_000_000),
		"d-no-room": lines(100_000),
		"e-no-room": lines(1_000_000),
		"f-fits":    lines(10_000),
		"was":       "y\n",
	})
	for name, fits := range map[string]bool{
		"a-largest": true, "c-fits": true, "d-no-room": false, "e-no-room": false, "f-fits": true, "was": true,
	} {
		assert.Equal(t, fits, strings.Contains(diff, "+++ b/"+name+"\n"), name)
	}
	assert.Contains(t, diff, "Binary files /dev/null and b/b-larger differ\n")
	_, after, _ := strings.Cut(diff, "\n# ")
	golden.Row(t, "end", after)
	assert.LessOrEqual(t, len(diff), 2<<20+200)
}

// TestLeftoversOfPackageManagers are counted, and not in the diff: only below their directories,
// wherever these are.
func TestLeftoversOfPackageManagers(t *testing.T) {
	t.Parallel()
	list := files{}
	theirs := strings.Fields(
		"node_modules/a deep/er/node_modules/p/q/a .venv/bin/a x/__pycache__/a.pyc .pytest_cache/a " +
			".mypy_cache/a .ruff_cache/a .gradle/a .npm/a .cache/pip/a",
	)
	ours := strings.Fields("node_modules.txt my.cache/a cache/a x/node_modules2/a .CACHE/a venv/a y/.npm .cached/a")
	for _, name := range slices.Concat(theirs, ours) {
		list[name] = "x\n"
	}
	diff := left(t, nil, list)
	assert.Equal(t, len(ours), strings.Count(diff, "+++ b/"))
	for _, name := range ours {
		assert.Contains(t, diff, "+++ b/"+name+"\n", name)
	}
	assert.Contains(t, diff, fmt.Sprintf("\n# %d more changed files ", len(theirs)))
}

// TestNamesInADiff stand on one line each, and none ends its header or begins another.
func TestNamesInADiff(t *testing.T) {
	t.Parallel()
	names := map[string]string{
		"plain": "b/plain", "with space": "b/with space", "ü": "b/ü", "new\nline": `"b/new\nline"`,
		"new\n+++ b/line": `"b/new\n+++ b/line"`, "tab\t": `"b/tab\t"`,
		`quote"`: `"b/quote\""`, `back\slash`: `"b/back\\slash"`, "bad\xff": `"b/bad\xff"`, "\x1b[2J": `"b/\x1b[2J"`,
		"dir/a\rb": `"b/dir/a\rb"`,
	}
	list := files{}
	for name := range names {
		list[name] = "x\n"
	}
	diff := left(t, nil, list)
	assert.Equal(t, len(names), strings.Count(diff, "diff --git "))
	for name, want := range names {
		assert.Equal(t, 1, strings.Count(diff, "\n+++ "+want+"\n"), "%q", name)
	}
	assert.Equal(t, 6*len(names), strings.Count(diff, "\n"), "a header of four lines, a hunk of two")
	assert.False(t, strings.ContainsAny(diff, "\x1b\r"))
}
