package tests

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

const examplesDir = "../programs"

// exampleWorld is a repository with a copy of one example, and of the module that
// the examples share.
func exampleWorld(t *testing.T, name string) *world {
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
	return newWorld(t, files)
}

// example runs iterations of the one program in the repository.
func (w *world) example(name, count string) []iteration {
	w.t.Helper()
	a := w.binary("iterate", "--programs", "programs", "--program", name, "--json", "--local", "-n", count)
	require.Zero(w.t, a.code, a.stderr)
	return w.decode(a.stdout)
}

// front adds lines to the frontmatter of the program.
func (w *world) front(name string, lines ...string) {
	w.t.Helper()
	file := "programs/" + name + "/program.md"
	text, err := os.ReadFile(filepath.Join(w.dir, file))
	require.NoError(w.t, err)
	w.write(file, strings.Replace(string(text), "---\n", "---\n"+strings.Join(lines, "\n")+"\n", 1))
	w.git("commit", "--quiet", "--all", "--message", "Change the program")
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

// TestTheNoisyExample measures by the clock: what is kept depends on the
// machine, but every decision is made from pairs and stands on its samples.
func TestTheNoisyExample(t *testing.T) {
	long.Only(t, long.Examples)
	t.Parallel()
	w := exampleWorld(t, "sort-latency")
	w.front("sort-latency", "evaluation-runs: 4")
	got := w.example("sort-latency", "1")
	require.Len(t, got, 1)
	one := got[0]
	require.Contains(t, []string{"accepted", "rejected"}, one.Outcome, one.Reasons)
	require.NotNil(t, one.Verdict)
	assert.Equal(t, one.Outcome == "accepted", *one.Verdict == "improved", one.Reasons)
	assert.NotEmpty(t, one.Reasons)
	assert.Equal(t, one.Outcome == "accepted", one.Commit != nil)
}

// bucketSort is much faster than the start, and allocates.
const bucketSort = `package main

import "math"

func Sort(values []int) {
	const buckets = 256
	low, high := math.MaxInt, math.MinInt
	for _, x := range values {
		low, high = min(low, x), max(high, x)
	}
	shift := 0
	for len(values) > 0 && (uint64(high)-uint64(low))>>shift >= buckets {
		shift++
	}
	lists := make([][]int, buckets)
	for _, x := range values {
		at := (uint64(x) - uint64(low)) >> shift
		lists[at] = append(lists[at], x)
	}
	values = values[:0]
	for _, list := range lists {
		values = append(values, list...)
	}
	for i, x := range values {
		for ; i > 0 && values[i-1] > x; i-- {
			values[i] = values[i-1]
		}
		values[i] = x
	}
}
`

// TestAFasterSortThatAllocatesIsRefused holds the guardrail of the example
// against an agent that trades memory for time.
func TestAFasterSortThatAllocatesIsRefused(t *testing.T) {
	long.Only(t, long.Examples)
	t.Parallel()
	w := exampleWorld(t, "sort-latency")
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "sort.go"), []byte(bucketSort), 0o600))
	w.front("sort-latency", "evaluation-runs: 4", "env: [SIDE]", "agent: command",
		`agent-command: cp "$SIDE/sort.go" programs/sort-latency/sorting/sort.go`)
	got := w.example("sort-latency", "1")
	require.Len(t, got, 1)
	assert.Equal(t, "rejected", got[0].Outcome)
	assert.Contains(t, strings.Join(got[0].Reasons, "\n"), "guardrail allocs_per_op")
}

// TestExamplesShareOneEvaluator: the code that keeps a candidate at a distance
// exists once, every example that measures a candidate uses it, and the README
// lists them all.
func TestExamplesShareOneEvaluator(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join(examplesDir, "README.md"))
	require.NoError(t, err)
	mains, err := filepath.Glob(filepath.Join(examplesDir, "*", "evaluate", "main.go"))
	require.NoError(t, err)
	require.Len(t, mains, 5)
	for _, path := range mains {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Contains(t, string(text), `"programs/evaluator"`, path)
		name := filepath.Base(filepath.Dir(filepath.Dir(path)))
		assert.Contains(t, string(readme), "["+name+"]("+name+"/program.md)", "the README lists it")
	}
	copies, err := filepath.Glob(filepath.Join(examplesDir, "*", "evaluate", "candidate.go"))
	require.NoError(t, err)
	assert.Empty(t, copies)
}
