package workspace

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
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

// TestAlteredSnapshots are found, and nothing is made of them: where all is read, and where
// one directory is, in which alone it counts.
func TestAlteredSnapshots(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		remove      string
		put         paths
		says, below string // "" for nothing wrong
	}{
		"nothing":          {},
		"it is gone":       {"v1", nil, "is missing", "cannot be read: "},
		"it is a file":     {"v1", paths{"v1": ""}, "is no directory", "cannot be read: "},
		"no manifest":      {"v1.manifest.json", nil, "has no manifest", "has no manifest"},
		"another manifest": {"", paths{"v1.manifest.json": "{}"}, "has a manifest that cannot", "has a manifest that cannot"},
		"a file cut off":   {"", paths{"v1/SKILL.md": "tex"}, `"SKILL.md" is cut off (3 of 4 bytes)`, ""},
		"a file altered":   {"", paths{"v1/SKILL.md": "TEXT"}, `"SKILL.md" is not what its manifest says`, ""},
		"a file less":      {"v1/SKILL.md", nil, `"SKILL.md" is missing`, ""},
		"a file more":      {"", paths{"v1/more": ""}, `"more" is not in its manifest`, ""},
		"a .git":           {"", paths{"v1/.git/HEAD": ""}, `".git" is not in its manifest`, ""},
		"another link":     {"v1/link", paths{"v1/link": "-> /etc"}, `"link" is not what its manifest says`, ""},
		"in the directory": {
			"", paths{"v1/evals/evals.json": "{}"}, `"evals/evals.json" is not what`, `"evals/evals.json" is not what its`,
		},
		"more in the directory": {
			"", paths{"v1/evals/more": ""}, `"evals/more" is not in its`, `"evals/more" is not what its manifest`,
		},
		"no directory": {"v1/evals", nil, `"evals" is missing`, "cannot be read: "},
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
			done := taken(t, src, snap)
			writable(t, snap)
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
				var bad *BadError
				require.ErrorAs(t, err, &bad)
				require.ErrorContains(t, err, says)
				assert.NotContains(t, err.Error(), "\n")
			}
			below, err := VerifyBelow(t.Context(), snap, "evals")
			holds(c.below, err)
			if err == nil {
				assert.Equal(t, done.Tree.Below("evals"), below)
			}
			_, err = Verify(t.Context(), snap)
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
		var bad *BadError
		require.ErrorAs(t, err, &bad, "%d bytes", length)
		require.Contains(t, bad.Why, "is no manifest, or was cut off", "%d bytes", length)
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
		"below nothing":       {nil, "a/b", "", "is no directory; make it first"},
		"a link that is lost": {paths{"lost": "-> nowhere"}, "lost", "is no directory", "is a link that leads nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := testdir.New(t, paths{"src/SKILL.md": "x"})
			src, snap, dst := filepath.Join(base, "src"), filepath.Join(base, "v0"), filepath.Join(base, c.dst)
			taken(t, src, snap)
			testdir.Put(t, base, c.more)
			before := testdir.Has(t, base)
			if c.takes != "" {
				_, err := Take(t.Context(), src, dst)
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
// a directory or a link; git says that some have a `.git` in them. It returns the directories that do.
func anyDirectory(t *testing.T, random *rand.Rand, dir string, git bool) (gits []string) {
	t.Helper()
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	dirs, list := []string{""}, paths{}
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
				gits = append(gits, name)
			}
		case 1:
			list[name] = "-> " + pick("a", "b", "c") + "-gone"
		default:
			list[name] = pick("", "-rwxr-xr-x ", "-rw------- ") + fmt.Sprint("text ", random.IntN(3))
		}
	}
	testdir.Put(t, dir, list)
	for _, name := range dirs[1:] {
		require.NoError(t, os.Chmod(filepath.Join(dir, name), []os.FileMode{0o755, 0o700}[random.IntN(2)]))
	}
	return gits
}

// TestAnyDirectoryBecomesTheSnapshot, whatever it was before: all but the `.git` of
// others in it, and nothing when such a one is where the snapshot has a file.
func TestAnyDirectoryBecomesTheSnapshot(t *testing.T) {
	t.Parallel()
	random, blocked := rand.New(rand.NewPCG(20, 21)), 0
	for round := range 80 {
		base := testdir.New(t, nil)
		src, snap, dir := filepath.Join(base, "src"), filepath.Join(base, "v1"), filepath.Join(base, "dir")
		anyDirectory(t, random, src, false)
		gits := anyDirectory(t, random, dir, round%3 > 0)
		wanted, before := scanned(t, src), scanned(t, dir)
		require.Equal(t, wanted.Digest(), taken(t, src, snap).Digest)
		restored, err := Restore(t.Context(), snap, dir)
		if err != nil {
			require.ErrorContains(t, err, "with a .git in it, and the snapshot has")
			require.Equal(t, before, scanned(t, dir), "nothing was changed")
			blocked++
			continue
		}
		require.Equal(t, before.Digest() != wanted.Digest(), restored.Changed)
		above := map[string]bool{}
		for _, name := range gits {
			text, err := os.ReadFile(filepath.Join(dir, name, ".git", "HEAD"))
			require.NoError(t, err, "round %d", round)
			require.Equal(t, "of "+name, string(text))
			for ; name != "."; name = filepath.Dir(name) {
				above[name] = true
			}
		}
		for _, d := range files.Compare(wanted, scanned(t, dir)) {
			require.True(t, d.Before == nil && above[d.Path], "round %d: %s differs, and is no directory above a .git",
				round, d.Path)
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

// TestKilledSnapshot leaves the old snapshot or the new one, wherever it was; the next
// one makes the new one, and nothing of the first is left.
func TestKilledSnapshot(t *testing.T) {
	t.Parallel()
	const set, first, stage = "v1", ".v1.aside", ".v1.stage-1"
	for name, c := range map[string]struct {
		old, latest string // where the two directories are by now
		manifest    string // which one the snapshot has
		next        int    // how much of the next one is there, in halves
		holds       string // the snapshot that it is, "" when nothing can be made of it
	}{
		"before anything":                 {set, "", "old", 0, "old"},
		"when all is copied":              {set, stage, "old", 0, "old"},
		"in half a manifest":              {set, stage, "old", 1, "old"},
		"before the exchange":             {set, stage, "old", 2, "old"},
		"after the exchange":              {stage, set, "old", 2, "latest"},
		"before it is cleared away":       {stage, set, "latest", 0, "latest"},
		"between two renames":             {first, stage, "old", 2, ""},
		"after two renames":               {first, set, "old", 2, "latest"},
		"of a new one, with its manifest": {"", stage, "latest", 0, ""},
		"of a new one, whole":             {"", set, "latest", 0, "latest"},
	} {
		for _, then := range []string{"take latest", "take old", "restore", "discard"} {
			t.Run(name+", then "+then, func(t *testing.T) {
				t.Parallel()
				base := testdir.New(t, nil)
				snap, dst := filepath.Join(base, "v1"), filepath.Join(base, "dst")
				digests, manifests := map[string]string{}, map[string]string{}
				for text, place := range map[string]string{"old": c.old, "latest": c.latest} {
					src := filepath.Join(base, text)
					testdir.Put(t, src, paths{"SKILL.md": text, "d/" + text: "-rwxr-xr-x " + text, "same": "x"})
					digests[text] = taken(t, src, src+"-taken").Digest
					manifest, err := os.ReadFile(ManifestFile(src + "-taken"))
					require.NoError(t, err)
					manifests[text] = string(manifest)
					if place != "" {
						require.NoError(t, os.Rename(src+"-taken", filepath.Join(base, place)))
					}
				}
				testdir.Put(t, base, paths{"v1.manifest.json": manifests[c.manifest]})
				if next := manifests["latest"]; c.next > 0 {
					testdir.Put(t, base, paths{".v1.manifest-next": next[:len(next)*c.next/2]})
				}
				what, src, _ := strings.Cut(then, " ")
				switch what {
				case "restore":
					restored, err := Restore(t.Context(), snap, dst)
					var bad *BadError
					if c.holds == "" {
						require.ErrorAs(t, err, &bad)
						assert.NoDirExists(t, dst)
						return
					}
					require.NoError(t, err)
					assert.Equal(t, digests[c.holds], restored.Digest)
					assert.Equal(t, digests[c.holds], scanned(t, dst).Digest())
					src = c.holds
				case "take":
					taken(t, filepath.Join(base, src), snap)
					assertHas(t, base, "v1", "v1 v1.manifest.json")
				default:
					require.NoError(t, Discard(snap))
					assertHas(t, base, "v1", "")
					return
				}
				tree, err := Verify(t.Context(), snap)
				require.NoError(t, err)
				assert.Equal(t, digests[src], tree.Digest())
			})
		}
	}
}

// TestSwapInTwoSteps finds what a killed process leaves where two names cannot
// be exchanged.
func TestSwapInTwoSteps(t *testing.T) {
	t.Parallel()
	base := testdir.New(t, paths{"src/one": "1"})
	src, snap := filepath.Join(base, "src"), filepath.Join(base, "v0")
	taken(t, src, snap)
	require.NoError(t, os.Rename(src, filepath.Join(base, ".src.aside")))
	restored, err := Restore(t.Context(), snap, src)
	require.NoError(t, err)
	assert.False(t, restored.Changed, "the old directory has its name again")
	assertHas(t, base, "", "src v0 v0.manifest.json")
}
