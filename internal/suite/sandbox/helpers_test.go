package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/tests/scratch"
	"github.com/org/autoloop/tests/testbox"
	"github.com/org/autoloop/tests/testdir"
)

func TestMain(m *testing.M) {
	if handled, code := process.Supervise(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(scratch.Run(m))
}

type files = testdir.Files

// dir is a directory under test.
type dir struct {
	t    *testing.T
	path string
}

func newDir(t *testing.T, list files) dir {
	t.Helper()
	return dir{t, testdir.New(t, list)}
}

func (d dir) at(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

func (d dir) put(list files) { testdir.Put(d.t, d.path, list) }

func (d dir) has() files { return testdir.Has(d.t, d.path) }

// config is what the tests take for configuration.
func config() sandbox.Config { return sandbox.Config{Include: []string{"*.md", ".claude/"}} }

func overlay(t *testing.T, list files) *sandbox.Overlay {
	t.Helper()
	o, err := sandbox.ReadOverlay(t.Context(), "candidate", newDir(t, list).path, config())
	require.NoError(t, err)
	return o
}

// prepare makes a template of a fixture and a configuration.
func prepare(t *testing.T, fixture dir, o *sandbox.Overlay) (*sandbox.Template, error) {
	t.Helper()
	return sandbox.Compose(t.Context(), filepath.Join(t.TempDir(), "template"), "fixture",
		[]sandbox.Fixture{{Name: "fixture", Dir: fixture.path}}, o)
}

// open makes a sandbox of a fixture; change, nil for none, adapts its Maker.
func open(t *testing.T, list files, change func(*sandbox.Maker)) (*sandbox.Box, dir) {
	t.Helper()
	template, err := prepare(t, newDir(t, list), nil)
	require.NoError(t, err)
	m := testbox.Maker()
	if change != nil {
		change(m)
	}
	box, err := m.Open(t.Context(), filepath.Join(t.TempDir(), "box"), template.Copy, []string{"SEEN=1"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close()) })
	return box, dir{t, box.Dir}
}
