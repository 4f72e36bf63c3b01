package tests

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const examplesDir = "../programs"

// exampleWorld is a repository with a copy of one example and nothing else.
func exampleWorld(t *testing.T, name string) *world {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(filepath.Join(examplesDir, name), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		within, err := filepath.Rel(examplesDir, path)
		files["programs/"+filepath.ToSlash(within)] = string(text)
		return err
	})
	require.NoError(t, err)
	return newWorld(t, files)
}

// example runs iterations of the one program in the repository.
func (w *world) example(name, count string) []iteration {
	w.t.Helper()
	a := w.binary("iterate", "--programs", "programs", "--program", name, "--json", "--local", "-n", count)
	require.Zero(w.t, a.code, a.stderr)
	return w.decode(a.stdout)
}

// TestExamplesGetBetter runs a few iterations of each example whose metric is
// the same whenever it is measured.
func TestExamplesGetBetter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, count string
		better      func(best float64) bool // than the start, by more than a little
	}{
		{"circle-packing", "6", func(best float64) bool { return best > 2.3 && best <= 2.636 }},
		{"function-minimization", "5", func(best float64) bool { return best < 0.8 && best >= -1.51869 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := exampleWorld(t, c.name)
			before := w.checkout()
			got := w.example(c.name, c.count)
			require.NotEmpty(t, got)
			for _, one := range got {
				assert.Contains(t, []string{"accepted", "rejected"}, one.Outcome, one.Reasons)
				assert.Empty(t, one.Warnings)
			}
			last := got[len(got)-1].Best
			require.NotNil(t, last)
			best, err := last.Float64()
			require.NoError(t, err)
			assert.True(t, c.better(best), "best is %v", best)
			assert.Equal(t, before, w.checkout(), "the checkout is as it was")
		})
	}
}

// TestExamplesShareTheirGuard: the code that keeps a candidate at a distance is
// copied into each example, so that one can be taken alone, and is one text.
// The README lists them all.
func TestExamplesShareTheirGuard(t *testing.T) {
	t.Parallel()
	copies, err := filepath.Glob(filepath.Join(examplesDir, "*", "evaluate", "candidate.go"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(copies), 2)
	readme, err := os.ReadFile(filepath.Join(examplesDir, "README.md"))
	require.NoError(t, err)
	first, err := os.ReadFile(copies[0])
	require.NoError(t, err)
	for _, path := range copies {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(first), string(text), "%s differs from %s", path, copies[0])
		name := filepath.Base(filepath.Dir(filepath.Dir(path)))
		assert.Contains(t, string(readme), "["+name+"]("+name+"/program.md)", "the README lists it")
	}
}
