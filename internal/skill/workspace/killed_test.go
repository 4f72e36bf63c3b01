package workspace_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/skill/workspace"
)

// interrupted is what is beside a snapshot when a process that replaces it is killed.
type interrupted struct {
	t         *testing.T
	base      string
	was, will string // directories: the old snapshot and the new one, which are snapshots elsewhere
	old, now  string // their digests
	manifests [2]string
}

// replaced makes both states, and a snapshot v1 of the old one.
func replaced(t *testing.T) *interrupted {
	t.Helper()
	k := &interrupted{t: t, base: writableDir(t)}
	for i, text := range []string{"old", "new"} {
		src := filepath.Join(k.base, text)
		write(t, src, "SKILL.md", text, 0o644)
		write(t, src, "d/"+text, text, 0o755)
		write(t, src, "same", "x", 0o644)
		snap := filepath.Join(k.base, "taken-"+text)
		taken, err := workspace.Take(t.Context(), src, snap)
		require.NoError(t, err)
		manifest, err := os.ReadFile(workspace.ManifestFile(snap))
		require.NoError(t, err)
		k.manifests[i] = string(manifest)
		if i == 0 {
			k.old, k.was = taken.Digest, snap
		} else {
			k.now, k.will = taken.Digest, snap
		}
	}
	return k
}

// TestKilledSnapshot leaves the old snapshot or the new one, wherever it was; the next
// one makes the new one, and nothing of the first is left.
func TestKilledSnapshot(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes and links need another system")
	}
	const (
		none = iota // nothing can be made of it
		old
		latest
	)
	const set, first, stage = "v1", ".v1.aside", ".v1.stage-1"
	for name, c := range map[string]struct {
		was, will string // where the two directories are by now
		manifest  int    // which one the snapshot has
		next      int    // how much of the next one is there, in halves
		holds     int
	}{
		"before anything":                 {set, "", 0, 0, old},
		"when all is copied":              {set, stage, 0, 0, old},
		"in half a manifest":              {set, stage, 0, 1, old},
		"before the exchange":             {set, stage, 0, 2, old},
		"after the exchange":              {stage, set, 0, 2, latest},
		"before it is cleared away":       {stage, set, 1, 0, latest},
		"between two renames":             {first, stage, 0, 2, none},
		"after two renames":               {first, set, 0, 2, latest},
		"of a new one, with its manifest": {"", stage, 1, 0, none},
		"of a new one, whole":             {"", set, 1, 0, latest},
	} {
		for _, then := range []string{"take", "take the old one", "restore", "discard"} {
			t.Run(name+", then "+then, func(t *testing.T) {
				t.Parallel()
				k := replaced(t)
				for place, dir := range map[string]string{c.was: k.was, c.will: k.will} {
					if place != "" {
						require.NoError(t, os.Rename(dir, filepath.Join(k.base, place)))
					}
				}
				write(t, k.base, "v1.manifest.json", k.manifests[c.manifest], 0o644)
				if c.next > 0 {
					write(t, k.base, ".v1.manifest-next", k.manifests[1][:len(k.manifests[1])*c.next/2], 0o644)
				}
				snap, dst := filepath.Join(k.base, "v1"), filepath.Join(k.base, "dst")
				want := map[int]string{old: k.old, latest: k.now}[c.holds]
				switch then {
				case "restore":
					restored, err := workspace.Restore(t.Context(), snap, dst)
					var bad *workspace.BadError
					if c.holds == none {
						require.ErrorAs(t, err, &bad)
						assert.NoDirExists(t, dst)
						return
					}
					require.NoError(t, err)
					assert.Equal(t, want, restored.Digest)
					assert.Equal(t, want, scan(t, dst).Digest())
					tree, err := workspace.Verify(t.Context(), snap)
					require.NoError(t, err)
					assert.Equal(t, want, tree.Digest())
				case "take", "take the old one":
					src, digest := "new", k.now
					if then != "take" {
						src, digest = "old", k.old
					}
					_, err := workspace.Take(t.Context(), filepath.Join(k.base, src), snap)
					require.NoError(t, err)
					tree, err := workspace.Verify(t.Context(), snap)
					require.NoError(t, err)
					assert.Equal(t, digest, tree.Digest())
					assertBeside(t, k.base, "v1", "v1.manifest.json")
				default:
					require.NoError(t, workspace.Discard(snap))
					assertBeside(t, k.base)
				}
			})
		}
	}
}

// assertBeside finds nothing of the snapshot v1 but these.
func assertBeside(t *testing.T, base string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(base)
	require.NoError(t, err)
	var found []string
	for _, e := range entries {
		if name := strings.TrimPrefix(e.Name(), "."); strings.HasPrefix(name, "v1") {
			found = append(found, e.Name())
		}
	}
	assert.ElementsMatch(t, names, found)
}

// TestCutManifest is no manifest, whatever its length.
func TestCutManifest(t *testing.T) {
	t.Parallel()
	base := writableDir(t)
	src, snap := filepath.Join(base, "src"), filepath.Join(base, "v1")
	write(t, src, "SKILL.md", "x", 0o644)
	write(t, src, "d/e", "y", 0o755)
	_, err := workspace.Take(t.Context(), src, snap)
	require.NoError(t, err)
	file := workspace.ManifestFile(snap)
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(file, 0o644))
	for length := range len(whole) - 1 { // the last byte is a line break
		require.NoError(t, os.WriteFile(file, whole[:length], 0o600))
		_, err := workspace.Verify(t.Context(), snap)
		var bad *workspace.BadError
		require.ErrorAs(t, err, &bad, "%d bytes", length)
		require.Contains(t, bad.Why, "is no manifest, or was cut off", "%d bytes", length)
	}
	for _, length := range []int{len(whole) - 1, len(whole)} {
		require.NoError(t, os.WriteFile(file, whole[:length], 0o600))
		_, err := workspace.Verify(t.Context(), snap)
		require.NoError(t, err)
	}
}

// TestVerifiedFiles is one directory alone: what is beside it may be altered, what is
// in it may not.
func TestVerifiedFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ write, remove, says string }{
		"nothing":          {"", "", ""},
		"a file beside it": {"SKILL.md", "", ""},
		"a file more":      {"more", "", ""},
		"a file in it":     {"evals/evals.json", "", `"evals/evals.json" is not what its`},
		"one more in it":   {"evals/more", "", `"evals/more" is not what its manifest`},
		"it is gone":       {"", "evals", "cannot be read: "},
		"its manifest":     {"", "../v1.manifest.json", "has no manifest"},
		"another manifest": {"../v1.manifest.json", "", "has a manifest that cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := writableDir(t)
			src, snap := filepath.Join(base, "src"), filepath.Join(base, "v1")
			write(t, src, "SKILL.md", "x", 0o644)
			write(t, src, "evals/evals.json", "[]", 0o644)
			write(t, src, "evals/files/in", "in", 0o644)
			taken, err := workspace.Take(t.Context(), src, snap)
			require.NoError(t, err)
			for _, place := range []string{
				snap, filepath.Join(snap, "evals"),
				filepath.Join(snap, "evals", "evals.json"), filepath.Join(snap, "SKILL.md"),
				workspace.ManifestFile(snap),
			} {
				require.NoError(t, os.Chmod(place, 0o755))
			}
			if c.write != "" {
				write(t, snap, c.write, "altered", 0o644)
			}
			if c.remove != "" {
				require.NoError(t, files.RemoveAll(filepath.Join(snap, c.remove)))
			}
			below, err := workspace.VerifyBelow(t.Context(), snap, "evals")
			if c.says == "" {
				require.NoError(t, err)
				assert.Equal(t, taken.Tree.Below("evals"), below)
				return
			}
			var bad *workspace.BadError
			require.ErrorAs(t, err, &bad)
			assert.Contains(t, bad.Why, c.says)
		})
	}
}
