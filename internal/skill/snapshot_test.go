package skill

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/testdir"
)

func TestSnapshotAndRestoreAreExact(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("names that are not UTF-8 need Linux")
	}
	odd := paths{
		"SKILL.md":         "text",
		"scripts/run.sh":   "-rwxr-xr-x run",
		"with space":       "-rw------- x",
		`"quoted"`:         "-rw-r----- x",
		"'single'":         "-r--r--r-- x",
		"new\nline":        "x",
		"tab\tand\\back":   "x",
		"not\xffutf8/\xfe": "x",
		"*?[x]":            "x",
		"-rf":              "x",
		"ünïcode":          "-rwx--x--x x",
		"deep/er/est/file": "x",
		"scripts-x":        "x",
		"empty/":           "",
		"deep/up":          "-> ../SKILL.md",
		"dangling":         "-> nowhere\xff",
	}
	base := testdir.New(t, nil)
	src, snap, dst := filepath.Join(base, "src"), filepath.Join(base, "kept", "v0"), filepath.Join(base, "dst")
	testdir.Put(t, src, odd)
	require.NoError(t, os.Chmod(filepath.Join(src, "deep"), 0o700))
	testdir.Put(t, src, paths{".git/config": "[core]"})
	before := scanned(t, src)

	done := taken(t, src, snap)
	assert.True(t, done.Changed)
	assert.Equal(t, 13, done.Files)
	assert.Equal(t, before.Digest(), done.Digest)
	assert.NoDirExists(t, filepath.Join(snap, ".git"))
	for _, e := range scanned(t, snap) {
		assert.Zero(t, e.Mode&0o222, "%q can be written", e.Path)
	}
	restored, err := Restore(t.Context(), snap, dst)
	require.NoError(t, err)
	assert.Equal(t, 13, restored.Written)
	assert.Equal(t, before, scanned(t, dst))
	assert.Equal(t, odd, testdir.Has(t, dst))
	assert.Equal(t, before, scanned(t, src), "the source is as it was")
	assertHas(t, base, "", "src kept dst")
	assertHas(t, filepath.Join(base, "kept"), "", "v0 v0.manifest.json")
}

// TestAlteredSnapshots are found, and nothing is made of them.
func TestAlteredSnapshots(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		remove string
		put    paths
		says   string // "" for nothing wrong
	}{
		"nothing":          {},
		"it is gone":       {"v1", nil, "is missing"},
		"it is a file":     {"v1", paths{"v1": ""}, "not a directory"},
		"no manifest":      {"v1.manifest.json", nil, "has a manifest that cannot"},
		"another manifest": {"", paths{"v1.manifest.json": "{}"}, "has a manifest that cannot"},
		"a file cut off":   {"", paths{"v1/SKILL.md": "tex"}, `"SKILL.md" is not what its`},
		"a file altered":   {"", paths{"v1/SKILL.md": "TEXT"}, `"SKILL.md" is not what its`},
		"a file less":      {"v1/SKILL.md", nil, `"SKILL.md" is missing`},
		"a file more":      {"", paths{"v1/more": ""}, `"more" is not in its manifest`},
		"a .git":           {"", paths{"v1/.git/HEAD": ""}, `".git" is not in its manifest`},
		"another link":     {"v1/link", paths{"v1/link": "-> /etc"}, `"link" is not what its`},
		"in the directory": {
			"", paths{"v1/evals/evals.json": "{}"}, `"evals/evals.json" is not what`,
		},
		"more in the directory": {
			"", paths{"v1/evals/more": ""}, `"evals/more" is not in its`,
		},
		"no directory": {"v1/evals", nil, `"evals" is missing`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := testdir.New(t, paths{
				"src/SKILL.md":         "text",
				"src/link":             "-> SKILL.md",
				"src/evals/evals.json": "[]",
				"src/evals/files/in":   "in",
			})
			src, snap := filepath.Join(base, "src"), filepath.Join(base, "v1")
			taken(t, src, snap)
			writableSnapshot(t, snap)
			testdir.Put(t, src, paths{"SKILL.md": "the user's", "more/of/it": "the user's"})
			before := scanned(t, src)
			if c.remove != "" {
				require.NoError(t, os.RemoveAll(filepath.Join(base, c.remove)))
			}
			testdir.Put(t, base, c.put)
			holds := func(says string, err error) {
				t.Helper()
				if says == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorContains(t, err, "snapshot "+snap+" ")
				require.ErrorContains(t, err, says)
				assert.NotContains(t, err.Error(), "\n")
			}
			_, err := Verify(t.Context(), snap)
			holds(c.says, err)
			_, err = Restore(t.Context(), snap, src)
			holds(c.says, err)
			assert.Equal(t, c.says != "", assert.ObjectsAreEqual(before, scanned(t, src)), "nothing was changed")
		})
	}
}

// TestCutManifest is no manifest, whatever its length.
func TestCutManifest(t *testing.T) {
	t.Parallel()
	base := testdir.New(t, paths{"src/SKILL.md": "x", "src/d/e": "-rwxr-xr-x y"})
	snap := filepath.Join(base, "v1")
	taken(t, filepath.Join(base, "src"), snap)
	whole, err := os.ReadFile(ManifestFile(snap))
	require.NoError(t, err)
	require.NoError(t, os.Chmod(ManifestFile(snap), 0o600))
	for length := range len(whole) + 1 {
		testdir.Put(t, base, paths{"v1.manifest.json": string(whole[:length])})
		_, err := Verify(t.Context(), snap)
		if length >= len(whole)-1 { // the last byte is a line break
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "is no manifest, or was cut off", "%d bytes", length)
	}
}

// TestPlacesThatAreRefused of a snapshot, and of what it is restored to.
func TestPlacesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more             paths
		dst, takes, over string // what is said when a snapshot is taken there, and when one is restored there
	}{
		"a link upwards":      {paths{"src/l": "-> ../other"}, "new", `"l" is a link that leaves the tree`, ""},
		"a special file":      {paths{"src/p": "|"}, "new", `"p" is neither file, directory nor`, ""},
		"into itself":         {nil, "src/inside", "keep the two apart", ""},
		"onto itself":         {nil, "src", "keep the two apart", ""},
		"into the snapshot":   {nil, "v0/inside", "", "keep the two apart"},
		"over the snapshot":   {nil, "v0", "", "keep the two apart"},
		"onto files":          {paths{"there/file": "precious"}, "there", "is no snapshot", ""},
		"onto a file":         {paths{"there": ""}, "there", "is there and is no directory", "is there and is no directory"},
		"below nothing":       {nil, "a/b", "", "no such file or directory"},
		"a link that is lost": {paths{"lost": "-> nowhere"}, "lost", "is no directory", "is no directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := testdir.New(t, paths{"src/SKILL.md": "x"})
			src, snap, dst := filepath.Join(base, "src"), filepath.Join(base, "v0"), filepath.Join(base, c.dst)
			taken(t, src, snap)
			testdir.Put(t, base, c.more)
			before := testdir.Has(t, base)
			if c.takes != "" {
				_, err := TakeSnapshot(t.Context(), src, dst)
				require.ErrorContains(t, err, c.takes)
			}
			if c.over != "" {
				_, err := RestoreOver(t.Context(), snap, dst, "")
				require.ErrorContains(t, err, c.over)
			}
			assert.Equal(t, before, testdir.Has(t, base), "nothing is left, or lost")
		})
	}
}

// TestRestoreOverNoticesAChange, and that the directory is gone; a special file that came is removed.
func TestRestoreOverNoticesAChange(t *testing.T) {
	t.Parallel()
	base := testdir.New(t, paths{"src/SKILL.md": "one"})
	src, snap := filepath.Join(base, "src"), filepath.Join(base, "v0")
	taken(t, src, snap)
	testdir.Put(t, src, paths{"SKILL.md": "two"})
	seen := scanned(t, src).Digest()
	testdir.Put(t, src, paths{"SKILL.md": "three"})
	for _, dir := range []string{src, filepath.Join(base, "gone")} {
		_, err := RestoreOver(t.Context(), snap, dir, seen)
		require.ErrorContains(t, err, "changed meanwhile; nothing was written")
	}
	assert.Equal(t, paths{"SKILL.md": "three"}, testdir.Has(t, src))
	_, err := RestoreOver(t.Context(), snap, src, scanned(t, src).Digest())
	require.NoError(t, err)
	testdir.Put(t, src, paths{"pipe": "|"})
	_, err = Restore(t.Context(), snap, src)
	require.NoError(t, err)
	assert.Equal(t, paths{"SKILL.md": "one"}, testdir.Has(t, src))
}

// anyDirectory draws a directory of a few names, so that two of them have a file where the other has
// a directory or a link; git says that it has a `.git`, and that there may be some below.
func anyDirectory(t *testing.T, random *rand.Rand, dir string, git bool) (below bool) {
	t.Helper()
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	dirs, list := []string{""}, paths{}
	if git {
		list[".git/HEAD"] = "its own"
	}
	for range 3 + random.IntN(10) {
		name := pick(dirs...) + pick("a", "b", "c", "a b", "ü")
		if _, there := list[name]; there || list[name+"/"] != "" {
			continue
		}
		switch random.IntN(4) {
		case 0:
			list[name+"/"] = "made"
			dirs = append(dirs, name+"/")
			if git && random.IntN(3) == 0 {
				list[name+"/.git/HEAD"] = "of " + name
				below = true
			}
		case 1:
			list[name] = "-> " + pick("a", "b", "c") + "-gone"
		default:
			list[name] = pick("", "-rwxr-xr-x ", "-rw------- ") + fmt.Sprint("text ", random.IntN(3))
		}
	}
	testdir.Put(t, dir, list)
	for _, name := range dirs[min(random.IntN(2), len(dirs)-1):] {
		require.NoError(t, os.Chmod(filepath.Join(dir, name), []os.FileMode{0o755, 0o700, 0o555}[random.IntN(3)]))
	}
	return below
}

// TestAnyDirectoryBecomesTheSnapshot, whatever it was before: all but the `.git` of
// its own, and nothing when there is another further down.
func TestAnyDirectoryBecomesTheSnapshot(t *testing.T) {
	t.Parallel()
	random, blocked := rand.New(rand.NewPCG(20, 21)), 0
	for round := range 80 {
		base := testdir.New(t, nil)
		src, snap, dir := filepath.Join(base, "src"), filepath.Join(base, "v1"), filepath.Join(base, "dir")
		anyDirectory(t, random, src, false)
		below := anyDirectory(t, random, dir, round%3 > 0)
		wanted, before := scanned(t, src), scanned(t, dir)
		require.Equal(t, wanted.Digest(), taken(t, src, snap).Digest)
		restored, err := Restore(t.Context(), snap, dir)
		require.Equal(t, below, err != nil)
		if below {
			require.ErrorContains(t, err, "in it is a repository of its own")
			require.Equal(t, before, scanned(t, dir), "nothing was changed")
			blocked++
			continue
		}
		require.Equal(t, before.Digest() != wanted.Digest(), restored.Changed)
		require.Equal(t, wanted, scanned(t, dir), "round %d", round)
		if round%3 > 0 {
			text, err := os.ReadFile(filepath.Join(dir, ".git", "HEAD"))
			require.NoError(t, err, "round %d", round)
			require.Equal(t, "its own", string(text))
		}
		assertHas(t, base, "", "src v1 v1.manifest.json dir")
		again, err := Restore(t.Context(), snap, dir)
		require.NoError(t, err)
		require.Zero(t, again.Written, "what is right is not written again")
		require.False(t, taken(t, src, snap).Changed)
	}
	require.Positive(t, blocked)
	require.Less(t, blocked, 60)
}

// TestKilledSnapshot leaves the old snapshot, the new one or none that can be used, wherever it was;
// the next one makes the new one, and nothing of the first is left.
func TestKilledSnapshot(t *testing.T) {
	t.Parallel()
	const stage = ".v1.autoloop-1"
	for name, c := range map[string]struct {
		put   paths // beside the snapshot, after what is there of it was removed
		gone  string
		holds bool // the old one
	}{
		"when all is copied":       {paths{stage + "/SKILL.md": "x", ".v1.manifest.json.12": "{"}, "", true},
		"when half is removed":     {paths{stage + "/SKILL.md": "x"}, "v1/SKILL.md", false},
		"when the old one is gone": {paths{stage + "/SKILL.md": "x"}, "v1", false},
		"of a new one":             {paths{stage + "/SKILL.md": "x", "v1.manifest.json": "{}"}, "v1", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := testdir.New(t, paths{"old/SKILL.md": "old", "latest/SKILL.md": "latest", "latest/d/": ""})
			snap := filepath.Join(base, "v1")
			old := taken(t, filepath.Join(base, "old"), snap)
			writableSnapshot(t, snap)
			require.NoError(t, os.RemoveAll(filepath.Join(base, cmp.Or(c.gone, "none"))))
			testdir.Put(t, base, c.put)
			found, err := Verify(t.Context(), snap)
			if c.holds {
				require.NoError(t, err)
				assert.Equal(t, old.Tree, found.Tree)
			} else {
				require.ErrorContains(t, err, "snapshot "+snap+" ")
			}
			latest := taken(t, filepath.Join(base, "latest"), snap)
			found, err = Verify(t.Context(), snap)
			require.NoError(t, err)
			assert.Equal(t, latest.Tree, found.Tree)
			assertHas(t, base, "v1", "v1 v1.manifest.json")
			testdir.Put(t, base, paths{stage + "/SKILL.md": "x"})
			require.NoError(t, DiscardSnapshot(snap))
			assertHas(t, base, "v1", "")
		})
	}
}
