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

// killed is what is beside a snapshot when a process that replaces it is killed.
type killed struct {
	t         *testing.T
	base      string
	was, will string // directories: the old snapshot and the new one, which are snapshots elsewhere
	old, now  string // their digests
	manifests [2]string
}

// replaced makes both states, and a snapshot v1 of the old one.
func replaced(t *testing.T) *killed {
	t.Helper()
	k := &killed{t: t, base: room(t)}
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

// move gives a directory another name in the base, and put writes a file there.
func (k *killed) move(from, to string) {
	k.t.Helper()
	require.NoError(k.t, os.Rename(from, filepath.Join(k.base, to)))
}

func (k *killed) put(name, text string) {
	k.t.Helper()
	write(k.t, k.base, name, text, 0o644)
}

// TestATakeThatWasKilled leaves the old snapshot or the new one, wherever it was; the next
// one makes the new one, and nothing of the first is left.
func TestATakeThatWasKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes and links need another system")
	}
	const (
		none = iota // nothing can be made of it
		old
		latest
	)
	for name, c := range map[string]struct {
		leave func(k *killed)
		holds int
	}{
		"before anything": {func(k *killed) { k.move(k.was, "v1"); k.put("v1.manifest.json", k.manifests[0]) }, old},
		"in the midst of copying": {func(k *killed) {
			k.move(k.was, "v1")
			k.put("v1.manifest.json", k.manifests[0])
			k.put(".v1.stage-1/SKILL.md", "ne")
		}, old},
		"when all is copied": {func(k *killed) {
			k.move(k.was, "v1")
			k.put("v1.manifest.json", k.manifests[0])
			k.move(k.will, ".v1.stage-1")
		}, old},
		"in half a manifest": {func(k *killed) {
			k.move(k.was, "v1")
			k.put("v1.manifest.json", k.manifests[0])
			k.move(k.will, ".v1.stage-1")
			k.put(".v1.manifest-next", k.manifests[1][:len(k.manifests[1])/2])
		}, old},
		"before the exchange": {func(k *killed) {
			k.move(k.was, "v1")
			k.put("v1.manifest.json", k.manifests[0])
			k.move(k.will, ".v1.stage-1")
			k.put(".v1.manifest-next", k.manifests[1])
		}, old},
		"after the exchange": {func(k *killed) {
			k.move(k.will, "v1")
			k.put("v1.manifest.json", k.manifests[0])
			k.move(k.was, ".v1.stage-1")
			k.put(".v1.manifest-next", k.manifests[1])
		}, latest},
		"before it is cleared away": {func(k *killed) {
			k.move(k.will, "v1")
			k.put("v1.manifest.json", k.manifests[1])
			k.move(k.was, ".v1.stage-1")
		}, latest},
		"between two renames": {func(k *killed) {
			k.move(k.was, ".v1.aside")
			k.put("v1.manifest.json", k.manifests[0])
			k.move(k.will, ".v1.stage-1")
			k.put(".v1.manifest-next", k.manifests[1])
		}, none},
		"after two renames": {func(k *killed) {
			k.move(k.was, ".v1.aside")
			k.put("v1.manifest.json", k.manifests[0])
			k.move(k.will, "v1")
			k.put(".v1.manifest-next", k.manifests[1])
		}, latest},
		"of a new one, with its manifest": {func(k *killed) {
			k.put("v1.manifest.json", k.manifests[1])
			k.move(k.will, ".v1.stage-1")
		}, none},
		"of a new one, whole": {func(k *killed) {
			k.move(k.will, "v1")
			k.put("v1.manifest.json", k.manifests[1])
		}, latest},
	} {
		for _, then := range []string{"take", "take the old one", "restore", "discard"} {
			t.Run(name+", then "+then, func(t *testing.T) {
				t.Parallel()
				k := replaced(t)
				c.leave(k)
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

// TestAManifestCutAnywhere is no manifest, whatever its length.
func TestAManifestCutAnywhere(t *testing.T) {
	t.Parallel()
	base := room(t)
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
	for name, c := range map[string]struct {
		spoil func(t *testing.T, snap string)
		says  string
	}{
		"nothing": {func(*testing.T, string) {}, ""},
		"a file beside it": {func(t *testing.T,
			s string,
		) {
			t.Helper()
			write(t, s, "SKILL.md", "altered", 0o644)
		}, ""},
		"a file more": {func(t *testing.T, s string) { t.Helper(); write(t, s, "more", "x", 0o644) }, ""},
		"a file in it": {func(t *testing.T,
			s string,
		) {
			t.Helper()
			write(t, s, "evals/evals.json", "altered", 0o644)
		}, `"evals/evals.json" is not what its manifest says`},
		"one more in it": {
			func(t *testing.T, s string) { t.Helper(); write(t, s, "evals/more", "x", 0o644) },
			`"evals/more" is not what its manifest says`,
		},
		"it is gone": {func(t *testing.T, s string) {
			t.Helper()
			require.NoError(t, files.RemoveAll(filepath.Join(s, "evals")))
		}, "cannot be read: "},
		"its manifest": {func(t *testing.T,
			s string,
		) {
			t.Helper()
			require.NoError(t, os.Remove(workspace.ManifestFile(s)))
		}, "has no manifest"},
		"half the manifest": {func(t *testing.T, s string) {
			t.Helper()
			require.NoError(t, os.Truncate(workspace.ManifestFile(s), 100))
		}, "has a manifest that cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := room(t)
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
			c.spoil(t, snap)
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
