package sandbox_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/tests/scratch"
)

func TestMain(m *testing.M) {
	if handled, code := process.Supervise(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(scratch.Run(m))
}

// dir is a directory under test, with ways to put things into it.
type dir struct {
	t    *testing.T
	path string
}

func newDir(t *testing.T, files map[string]string) dir {
	t.Helper()
	d := dir{t, t.TempDir()}
	for name, text := range files {
		d.put(name, text, 0o644)
	}
	return d
}

func (d dir) at(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

func (d dir) put(name, text string, mode fs.FileMode) {
	d.t.Helper()
	require.NoError(d.t, os.MkdirAll(filepath.Dir(d.at(name)), 0o755))
	require.NoError(d.t, os.WriteFile(d.at(name), []byte(text), mode))
	require.NoError(d.t, os.Chmod(d.at(name), mode))
}

func (d dir) link(target, name string) {
	d.t.Helper()
	require.NoError(d.t, os.MkdirAll(filepath.Dir(d.at(name)), 0o755))
	require.NoError(d.t, os.Symlink(target, d.at(name)))
}

// has describes all files below a directory: content, a link's target, and the
// mode where it is not 644.
func (d dir) has() map[string]string {
	d.t.Helper()
	found := map[string]string{}
	require.NoError(d.t, filepath.WalkDir(d.path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(d.path, file)
		require.NoError(d.t, err)
		info, err := entry.Info()
		require.NoError(d.t, err)
		if info.Mode()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(file)
			found[filepath.ToSlash(name)] = "-> " + target
			return err
		}
		data, err := os.ReadFile(file)
		text := string(data)
		if info.Mode().Perm() != 0o644 {
			text = info.Mode().Perm().String() + " " + text
		}
		found[filepath.ToSlash(name)] = text
		return err
	}))
	return found
}

// config selects what the tests take for configuration.
type config struct{}

func (config) Match(name string) bool {
	ok, _ := path.Match("*.md", name)
	return ok || len(name) > 8 && name[:8] == ".claude/"
}

func (config) Within(dir string) bool { return dir == ".claude" }

// anything selects every file.
type anything struct{}

func (anything) Match(string) bool { return true }

func (anything) Within(string) bool { return true }

func maker() *sandbox.Maker {
	return &sandbox.Maker{
		Runner: process.NewRunner(),
		Environ: func(home string, _ []string) ([]string, error) {
			return []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, os.MkdirAll(home, 0o700)
		},
		Remove: os.RemoveAll,
	}
}

func overlay(t *testing.T, d dir) *sandbox.Overlay {
	t.Helper()
	o, err := sandbox.ReadOverlay(t.Context(), "candidate", d.path, config{})
	require.NoError(t, err)
	return o
}

// open makes a sandbox of fixture and configuration.
func open(t *testing.T, fixture dir, o *sandbox.Overlay) (*sandbox.Box, dir) {
	t.Helper()
	base := t.TempDir()
	template, err := sandbox.Prepare(t.Context(), filepath.Join(base, "template"),
		sandbox.Fixture{Name: "fixture", Dir: fixture.path}, o)
	require.NoError(t, err)
	box, err := maker().Open(t.Context(), filepath.Join(base, "box"), template, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close()) })
	return box, dir{t, box.Dir}
}
