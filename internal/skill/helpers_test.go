package skill

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/scratch"
	"github.com/org/autoloop/tests/testdir"
)

func TestMain(m *testing.M) { os.Exit(scratch.Run(m)) }

type paths = testdir.Files

// front begins a SKILL.md whose rest is its text; the text decides what the skill scores.
const front = "---\nname: s\ndescription: says things\n---\n"

// newSkill makes a skill of that text, and its workspace beside it.
func newSkill(t *testing.T, text string, more paths) *Workspace {
	t.Helper()
	dir := filepath.Join(testdir.New(t, nil), "s")
	testdir.Put(t, dir, paths{"SKILL.md": front + text})
	testdir.Put(t, dir, more)
	w, err := CreateWorkspace(t.Context(), WorkspaceBeside(dir), dir)
	require.NoError(t, err)
	return w
}

func textOf(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "SKILL.md"))
	require.NoError(t, err)
	return strings.TrimPrefix(string(data), front)
}

// writable lets a test change a version.
func writable(t *testing.T, w *Workspace, version int) string {
	t.Helper()
	dir := w.Version(version)
	require.NoError(t, filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		require.NoError(t, err)
		return os.Chmod(name, 0o755) //nolint:gosec // a directory of the test's
	}))
	return dir
}

// saved is a workspace as another process finds it.
func saved(t *testing.T, w *Workspace) *Workspace {
	t.Helper()
	again, err := OpenWorkspace(t.Context(), w.Dir, io.Discard)
	require.NoError(t, err)
	return again
}

func contentOf(t *testing.T, dir string) Content {
	t.Helper()
	found, err := Scan(t.Context(), dir)
	require.NoError(t, err)
	return found
}

func digestOf(t *testing.T, dir string) string {
	t.Helper()
	return contentOf(t, dir).Digest()
}

// versionsOf are the versions of a workspace, with what they say.
func versionsOf(t *testing.T, w *Workspace) (*Versions, *bytes.Buffer) {
	t.Helper()
	said, home := &bytes.Buffer{}, t.TempDir()
	return &Versions{
		Workspace: w,
		TempDir:   home,
		Environ:   []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home},
		Out:       said,
		Err:       said,
	}, said
}
