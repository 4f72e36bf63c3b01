package tests

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

const examplesDir = "../programs"

// exampleProject is a repository with a copy of one example, and of the module that
// the examples share.
func exampleProject(t *testing.T, name string) *project {
	t.Helper()
	files := map[string]string{}
	for _, top := range []string{name, "evaluator", "go.mod"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(examplesDir, top),
			func(path string, entry fs.DirEntry, err error) error {
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
			}))
	}
	return newProject(t, files)
}

// example runs iterations of the one program in the repository.
func (w *project) example(name, count string) []iteration {
	w.t.Helper()
	a := w.ok("iterate", "--programs", "programs", "--program", name, "--json", "--local", "-n", count)
	return w.decode(a.stdout)
}

// TestExamplesGetBetter runs a few iterations of each example whose metric is
// the same whenever it is measured.
func TestExamplesGetBetter(t *testing.T) {
	long.Only(t, long.Examples)
	t.Parallel()
	for _, c := range []struct {
		name, count string
		better      func(best float64) bool // than the start, by more than a little
	}{
		{"circle-packing", "5", func(best float64) bool { return best > 2.3 && best <= 2.636 }},
		{"function-minimization", "5", func(best float64) bool { return best < 0.8 && best >= -1.51869 }},
		{"signal-filter", "4", func(best float64) bool { return best > 4 && best < 20 }},
		{"test-coverage", "3", func(best float64) bool { return best > 30 && best <= 100 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := exampleProject(t, c.name)
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
