// Package testdir makes directories of tests, and says what is in one, by the same notation.
package testdir

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Files are what is below a directory, by path with slashes: a text, after a mode such as
// -rwxr-xr-x where it is not 644; "-> TARGET" for a link, "|" for a pipe, "size N" for so many
// zero bytes. A path that ends in a slash is a directory.
type Files map[string]string

// New makes a directory that is removed with the test, whatever its modes are by then.
func New(t testing.TB, files Files) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	dir := filepath.Join(base, "dir")
	require.NoError(t, os.Mkdir(dir, 0o755))
	t.Cleanup(func() {
		_ = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, _ error) error {
			if entry != nil && entry.IsDir() {
				return os.Chmod(name, 0o700) //nolint:gosec // so that it can be removed
			}
			return nil
		})
	})
	Put(t, dir, files)
	return dir
}

var mode = regexp.MustCompile(`^-[rwx-]{9} `)

// Put writes files below a directory, over what is there.
func Put(t testing.TB, dir string, files Files) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(file, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		if target, is := strings.CutPrefix(text, "-> "); is {
			require.NoError(t, os.Symlink(target, file))
			continue
		}
		if text == "|" {
			require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", file).Run())
			continue
		}
		bits, size := fs.FileMode(0o644), int64(0)
		switch sized, _ := fmt.Sscanf(text, "size %d", &size); {
		case sized == 1:
			text = ""
		case mode.MatchString(text):
			bits = 0
			for _, bit := range text[1:10] {
				if bits <<= 1; bit != '-' {
					bits++
				}
			}
			text = text[11:]
		}
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		require.NoError(t, os.Truncate(file, max(size, int64(len(text)))))
		require.NoError(t, os.Chmod(file, bits))
	}
}

// Has are all files, links and empty directories below a directory.
func Has(t testing.TB, dir string) Files {
	t.Helper()
	found := Files{}
	require.NoError(t, filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		name, err := filepath.Rel(dir, file)
		require.NoError(t, err)
		name = filepath.ToSlash(name)
		info, err := entry.Info()
		require.NoError(t, err)
		switch {
		case entry.IsDir():
			below, err := os.ReadDir(file)
			if len(below) == 0 && name != "." {
				found[name+"/"] = ""
			}
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(file)
			found[name] = "-> " + target
			return err
		case !info.Mode().IsRegular():
			found[name] = "|"
			return nil
		}
		data, err := os.ReadFile(file)
		found[name] = string(data)
		if info.Mode().Perm() != 0o644 {
			found[name] = info.Mode().Perm().String() + " " + string(data)
		}
		return err
	}))
	return found
}
