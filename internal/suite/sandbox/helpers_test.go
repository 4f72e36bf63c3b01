package sandbox_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
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

// files are what is in a directory, by path: a text, after a mode such as -rwxr-xr-x where it is
// not 644, "-> TARGET" for a link, "|" for a pipe, "size N" for so many zero bytes; a path with a
// slash at its end is a directory.
type files map[string]string

// dir is a directory under test.
type dir struct {
	t    *testing.T
	path string
}

func newDir(t *testing.T, list files) dir {
	t.Helper()
	d := dir{t, t.TempDir()}
	d.put(list)
	return d
}

func (d dir) at(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

var moded = regexp.MustCompile(`^-[rwx-]{9} `)

func (d dir) put(list files) {
	d.t.Helper()
	for name, text := range list {
		at := d.at(name)
		require.NoError(d.t, os.MkdirAll(filepath.Dir(d.at(name+"x")), 0o755))
		var size, mode int64 = 0, 0o644
		switch sized, _ := fmt.Sscanf(text, "size %d", &size); {
		case strings.HasSuffix(name, "/"):
			continue
		case strings.HasPrefix(text, "-> "):
			require.NoError(d.t, os.Symlink(text[3:], at))
			continue
		case text == "|":
			require.NoError(d.t, exec.CommandContext(d.t.Context(), "mkfifo", at).Run())
			continue
		case sized == 1:
			text = ""
		case moded.MatchString(text):
			mode = 0
			for _, bit := range text[1:10] {
				if mode <<= 1; bit != '-' {
					mode++
				}
			}
			text = text[11:]
		}
		require.NoError(d.t, os.WriteFile(at, []byte(text), 0o600))
		require.NoError(d.t, os.Truncate(at, max(size, int64(len(text)))))
		require.NoError(d.t, os.Chmod(at, fs.FileMode(mode)))
	}
}

// has are all files, links and empty directories below a directory.
func (d dir) has() files {
	d.t.Helper()
	found := files{}
	require.NoError(d.t, filepath.WalkDir(d.path, func(file string, entry fs.DirEntry, err error) error {
		require.NoError(d.t, err)
		name, err := filepath.Rel(d.path, file)
		require.NoError(d.t, err)
		if entry.IsDir() {
			below, err := os.ReadDir(file)
			if len(below) == 0 && name != "." {
				found[filepath.ToSlash(name)+"/"] = ""
			}
			return err
		}
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
	return path.Ext(name) == ".md" || strings.HasPrefix(name, ".claude/")
}

func (config) Within(dir string) bool { return strings.HasPrefix(dir, ".claude") }

func maker() *sandbox.Maker {
	return &sandbox.Maker{
		Runner: process.NewRunner(),
		Environ: func(home string, names []string) ([]string, error) {
			return append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, names...), os.MkdirAll(home, 0o700)
		},
		Remove: os.RemoveAll,
	}
}

func overlay(t *testing.T, list files) *sandbox.Overlay {
	t.Helper()
	o, err := sandbox.ReadOverlay(t.Context(), "candidate", newDir(t, list).path, config{})
	require.NoError(t, err)
	return o
}

// prepare makes a template of a fixture and a configuration.
func prepare(t *testing.T, fixture dir, o *sandbox.Overlay) (*sandbox.Template, error) {
	t.Helper()
	return sandbox.Prepare(t.Context(), filepath.Join(t.TempDir(), "template"),
		sandbox.Fixture{Name: "fixture", Dir: fixture.path}, o)
}

// open makes a sandbox of a fixture; change, nil for none, adapts its Maker.
func open(t *testing.T, list files, change func(*sandbox.Maker)) (*sandbox.Box, dir) {
	t.Helper()
	template, err := prepare(t, newDir(t, list), nil)
	require.NoError(t, err)
	m := maker()
	if change != nil {
		change(m)
	}
	box, err := m.Open(t.Context(), filepath.Join(t.TempDir(), "box"), template, []string{"SEEN=1"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close()) })
	return box, dir{t, box.Dir}
}
