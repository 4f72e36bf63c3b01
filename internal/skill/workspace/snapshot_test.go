package workspace_test

import (
	"errors"
	"io/fs"
	"net"
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

// write makes a file with its directories.
func write(t testing.TB, dir, name, text string, mode fs.FileMode) {
	t.Helper()
	file := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	require.NoError(t, os.Chmod(file, mode))
}

// writableDir is a temporary directory whose read-only parts go away too.
func writableDir(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "dir")
	require.NoError(t, os.Mkdir(dir, 0o755))
	t.Cleanup(func() { _ = files.RemoveAll(dir) })
	return dir
}

// odd has everything that a name or a mode can be.
func odd(t testing.TB, dir string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("names that are not UTF-8 need Linux")
	}
	for name, mode := range map[string]fs.FileMode{
		"SKILL.md": 0o644, "scripts/run.sh": 0o755, "with space": 0o600, `"quoted"`: 0o640, "'single'": 0o444,
		"new\nline":      0o644,
		"tab\tand\\back": 0o644, "not\xffutf8/\xfe": 0o644, "*?[x]": 0o644, "-rf": 0o644, "ünïcode": 0o711,
		"deep/er/est/file": 0o644, "scripts-x": 0o644,
	} {
		write(t, dir, name, "text of "+name, mode)
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o750))
	require.NoError(t, os.Symlink("../SKILL.md", filepath.Join(dir, "deep", "up")))
	require.NoError(t, os.Symlink("nowhere\xff", filepath.Join(dir, "dangling")))
	require.NoError(t, os.Chmod(filepath.Join(dir, "deep"), 0o700))
}

func scan(t testing.TB, dir string) workspace.Tree {
	t.Helper()
	tree, err := workspace.Scan(t.Context(), dir)
	require.NoError(t, err)
	return tree
}

func TestSnapshotAndRestoreAreExact(t *testing.T) {
	t.Parallel()
	base := writableDir(t)
	src, snap, dst := filepath.Join(base, "src"), filepath.Join(base, "kept", "v0"), filepath.Join(base, "dst")
	odd(t, src)
	write(t, src, ".git/config", "[core]", 0o644)
	before := scan(t, src)

	taken, err := workspace.Take(t.Context(), src, snap)
	require.NoError(t, err)
	assert.True(t, taken.Changed)
	assert.Equal(t, 13, taken.Files)
	assert.Equal(t, before.Digest(), taken.Digest)
	assert.NoDirExists(t, filepath.Join(snap, ".git"))
	for _, e := range scan(t, snap) {
		assert.Zero(t, e.Mode&0o222, "%q can be written", e.Path)
	}

	restored, err := workspace.Restore(t.Context(), snap, dst)
	require.NoError(t, err)
	assert.Equal(t, 13, restored.Written)
	assert.Equal(t, before, scan(t, dst))
	assert.NoDirExists(t, filepath.Join(dst, ".git"))
	assert.Equal(t, before, scan(t, src), "the source is as it was")
	assertNothingElse(t, base, "src", "kept", "dst")
	assertNothingElse(t, filepath.Join(base, "kept"), "v0", "v0.manifest.json")
}

func assertNothingElse(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var found []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".seen.json") { // which comes and goes
			found = append(found, e.Name())
		}
	}
	assert.ElementsMatch(t, names, found)
}

func TestBadSnapshotsChangeNothing(t *testing.T) {
	t.Parallel()
	cut := func(name string, size int64) func(s string) error {
		return func(s string) error { return os.Truncate(filepath.Join(s, name), size) }
	}
	put := func(name, text string) func(s string) error {
		return func(s string) error { return os.WriteFile(filepath.Join(s, name), []byte(text), 0o600) }
	}
	remove := func(name string) func(s string) error {
		return func(s string) error { return files.RemoveAll(filepath.Join(s, name)) }
	}
	for want, spoil := range map[string]func(snap string) error{
		"is missing":      remove("."),
		"has no manifest": remove("../v0.manifest.json"),
		"was cut off":     cut("../v0.manifest.json", 500),
		"was altered": func(s string) error {
			text, err := os.ReadFile(workspace.ManifestFile(s))
			altered := strings.ReplaceAll(string(text), "7", "6")
			return errors.Join(err, os.WriteFile(workspace.ManifestFile(s), []byte(altered), 0o600))
		},
		`"SKILL.md" is cut off (3 of 16 bytes)`:    cut("SKILL.md", 3),
		`"SKILL.md" is not what its manifest says`: put("SKILL.md", "TEXT OF SKILL.md"),
		`"SKILL.md" is missing`:                    remove("SKILL.md"),
		`"more" is not in its manifest`:            put("more", "x"),
		`"dangling" is not what its manifest says`: func(s string) error {
			return errors.Join(remove("dangling")(s), os.Symlink("/etc", filepath.Join(s, "dangling")))
		},
		"is no directory": func(s string) error { return errors.Join(remove(".")(s), put(".", "")(s)) },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			base := writableDir(t)
			src, snap := filepath.Join(base, "src"), filepath.Join(base, "v0")
			odd(t, src)
			_, err := workspace.Take(t.Context(), src, snap)
			require.NoError(t, err)
			for _, name := range []string{snap, filepath.Join(snap, "SKILL.md"), workspace.ManifestFile(snap)} {
				require.NoError(t, os.Chmod(name, 0o755))
			}
			write(t, src, "SKILL.md", "the user's", 0o644)
			write(t, src, "more/of/it", "the user's", 0o644)
			before := scan(t, src)
			require.NoError(t, spoil(snap))
			_, err = workspace.Restore(t.Context(), snap, src)
			require.ErrorContains(t, err, want)
			var bad *workspace.BadError
			require.ErrorAs(t, err, &bad)
			assert.NotContains(t, err.Error(), "\n")
			assert.Equal(t, before, scan(t, src))
		})
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(t *testing.T, src string)
		dst     string
		want    string
	}{
		"a link upwards": {func(t *testing.T, s string) {
			require.NoError(t, os.Symlink("../other", filepath.Join(s, "l")))
		}, "v0", `"l" is a link that leaves the tree`},
		"into itself": {func(*testing.T, string) {}, "src/inside", "keep the two apart"},
		"onto itself": {func(*testing.T, string) {}, "src", "keep the two apart"},
		"onto files": {func(t *testing.T, s string) {
			write(t, filepath.Dir(s), "there/file", "precious", 0o644)
		}, "there", "is no snapshot"},
		"onto a file": {
			func(t *testing.T, s string) { write(t, filepath.Dir(s), "there", "", 0o644) }, "there",
			"is no directory",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := writableDir(t)
			src := filepath.Join(base, "src")
			write(t, src, "SKILL.md", "x", 0o644)
			c.prepare(t, src)
			before, err := os.ReadDir(base)
			require.NoError(t, err)
			_, err = workspace.Take(t.Context(), src, filepath.Join(base, c.dst))
			require.ErrorContains(t, err, c.want)
			after, err := os.ReadDir(base)
			require.NoError(t, err)
			assert.Len(t, after, len(before), "nothing is left")
		})
	}
}

func TestSpecialFilesAreRefusedAndRemoved(t *testing.T) {
	t.Parallel()
	base := writableDir(t)
	src, snap := filepath.Join(base, "src"), filepath.Join(base, "v0")
	write(t, src, "SKILL.md", "x", 0o644)
	_, err := workspace.Take(t.Context(), src, snap)
	require.NoError(t, err)
	listener, err := net.Listen("unix", filepath.Join(src, "socket")) //nolint:noctx // it is a file here
	if err != nil {
		t.Skip("no sockets with such a path here:", err)
	}
	defer func() { _ = listener.Close() }()
	_, err = workspace.Take(t.Context(), src, filepath.Join(base, "v1"))
	require.ErrorContains(t, err, `"socket" is neither file, directory nor`)
	_, err = workspace.Restore(t.Context(), snap, src)
	require.NoError(t, err)
	assert.NoFileExists(t, filepath.Join(src, "socket"))
}

func TestRestoreOverNoticesAChange(t *testing.T) {
	t.Parallel()
	base := writableDir(t)
	src, snap := filepath.Join(base, "src"), filepath.Join(base, "v0")
	write(t, src, "SKILL.md", "one", 0o644)
	_, err := workspace.Take(t.Context(), src, snap)
	require.NoError(t, err)
	write(t, src, "SKILL.md", "two", 0o644)
	seen := scan(t, src)
	write(t, src, "SKILL.md", "three", 0o644)
	_, err = workspace.RestoreOver(t.Context(), snap, src, seen.Digest())
	require.ErrorContains(t, err, "changed meanwhile")
	text, err := os.ReadFile(filepath.Join(src, "SKILL.md"))
	require.NoError(t, err)
	assert.Equal(t, "three", string(text))
	_, err = workspace.RestoreOver(t.Context(), snap, src, scan(t, src).Digest())
	require.NoError(t, err)
}
