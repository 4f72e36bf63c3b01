package skill

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/skill/workspace"
)

func TestIterationRuns(t *testing.T) {
	t.Parallel()
	run := func(dir, side string, counts bool) string {
		return fmt.Sprintf(`{"dir": %q, "side": %q, "stage": "pairs", "score": 0.5, "counts": %v}`, dir, side, counts)
	}
	list := func(runs ...string) string { return `{"schema": 1, "runs": [` + strings.Join(runs, ",") + `]}` }
	for name, c := range map[string]struct {
		text  string // of runs.json, "-" for none
		runs  string
		fails string
	}{
		"run once": {"-", ".", ""},
		"those that count": {list(run(".", "candidate", false), run("run-2", "candidate", true),
			run("incumbent-1", "incumbent", true), run("run-10", "candidate", true)), "run-2 run-10", ""},
		"the first counts": {list(run(".", "candidate", true), run("run-2", "candidate", true)), ". run-2", ""},
		"none counts":      {list(run(".", "candidate", false), run("incumbent-1", "incumbent", true)), ".", ""},
		"no runs":          {list(), ".", ""},
		"fields of later": {`{"schema": 1, "later": {}, "runs": [{"dir": "run-2", "side": "candidate", "counts": ` +
			`true, "later": []}]}`, "run-2", ""},
		"sides of later": {list(run(".", "candidate", true), run("run-2", "emptied", true)), ".", ""},
		"upwards": {
			list(run("../iteration-0", "candidate", true)), "",
			`names "../iteration-0", which is no run of this iteration`,
		},
		"upwards, not used": {
			list(run(".", "candidate", true), run("..", "incumbent", false)), "",
			"is no run of this iteration",
		},
		"below":              {list(run("run-2/../../v0", "candidate", true)), "", "is no run of this iteration"},
		"the root":           {list(run("/etc", "candidate", true)), "", "is no run of this iteration"},
		"a run and more":     {list(run("run-2\n", "candidate", true)), "", "is no run of this iteration"},
		"no number":          {list(run("run-", "candidate", true)), "", "is no run of this iteration"},
		"too large a number": {list(run("run-123456", "candidate", true)), "", "is no run of this iteration"},
		"no name":            {list(run("", "candidate", true)), "", "is no run of this iteration"},
		"cut off": {
			list(run(".", "candidate", true))[:30], "",
			"was cut off; remove it, and the first run alone counts",
		},
		"empty":          {"", "", "is no list of runs that this program reads"},
		"a list":         {"[]", "", "is no list of runs that this program reads"},
		"null":           {"null", "", "is no list of runs that this program reads"},
		"a later schema": {`{"schema": 2, "runs": []}`, "", "is no list of runs that this program reads"},
		"a score that is not": {
			`{"schema": 1, "runs": [{"dir": ".", "score": "high"}]}`, "",
			"is no list of runs that this program reads",
		},
		"too large": {list() + strings.Repeat(" ", 4<<20), "", "is no file of at most 4194304 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if c.text != "-" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, RunsFile), []byte(c.text), 0o600))
			}
			runs, err := IterationRuns(dir)
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				assert.Contains(t, err.Error(), RunsFile)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, strings.Fields(c.runs), runs)
		})
	}
	for name, put := range map[string]func(file string) error{
		"a directory":      func(file string) error { return os.Mkdir(file, 0o755) },
		"a link elsewhere": func(file string) error { return os.Symlink("/dev/zero", file) },
	} {
		dir := t.TempDir()
		require.NoError(t, put(filepath.Join(dir, RunsFile)), name)
		_, err := IterationRuns(dir)
		require.ErrorContains(t, err, "is no file of at most", name)
	}
}

// TestVersionRuns has v0, which two candidates were held against, and v2, which one was.
func TestVersionRuns(t *testing.T) {
	t.Parallel()
	w := &workspace.Workspace{Dir: t.TempDir()}
	for n, incumbent := range map[int]int{1: 0, 2: 0, 3: 2, 5: 2} {
		list := &Runs{Schema: workspace.Schema, Incumbent: incumbent, Runs: []Run{
			{Dir: ".", Side: "candidate", Stage: "once"},
			{Dir: "incumbent-1", Side: "incumbent", Stage: "pairs", WarmUp: true},
			{Dir: "run-2", Side: "candidate", Stage: "pairs", WarmUp: true},
			{Dir: "incumbent-2", Side: "incumbent", Stage: "pairs"},
			{Dir: "run-3", Side: "candidate", Stage: "pairs"},
		}}
		list.count()
		require.NoError(t, os.Mkdir(w.Iteration(n), 0o755))
		require.NoError(t, list.write(w.Iteration(n)))
	}
	for name, c := range map[string]struct {
		version, upTo int
		runs          string
	}{
		"the original alone":      {0, 0, "iteration-0"},
		"beside one candidate":    {0, 1, "iteration-0 iteration-1/incumbent-2"},
		"beside all of its own":   {0, 9, "iteration-0 iteration-1/incumbent-2 iteration-2/incumbent-2"},
		"a candidate by its runs": {2, 2, "iteration-2/run-3"},
		"and what came later":     {2, 9, "iteration-2/run-3 iteration-3/incumbent-2 iteration-5/incumbent-2"},
		"one without a list":      {4, 9, "iteration-4"},
	} {
		runs, err := VersionRuns(w, c.version, c.upTo)
		require.NoError(t, err, name)
		for i := range runs {
			runs[i], err = filepath.Rel(w.Dir, runs[i])
			require.NoError(t, err)
		}
		assert.Equal(t, strings.Fields(c.runs), runs, name)
	}
	require.NoError(t, os.WriteFile(filepath.Join(w.Iteration(5), RunsFile), []byte("{"), 0o600))
	_, err := VersionRuns(w, 2, 9)
	require.ErrorContains(t, err, "was cut off", "a list that cannot be read is no empty one")
	_, err = VersionRuns(w, 2, 4)
	require.NoError(t, err, "only those that matter are read")
}

// TestRunsThatCountAreTheLastStages is for any list of runs, as the trials make them.
func TestRunsThatCountAreTheLastStages(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	stages := []string{
		string(decision.Once), string(decision.Again), string(decision.Pairs),
		string(decision.Confirmation),
	}
	(&Runs{}).count()
	for range 200 {
		list, stage := &Runs{}, 0
		for range 1 + random.IntN(20) {
			stage = min(stage+random.IntN(2), len(stages)-1)
			list.Runs = append(list.Runs, Run{
				Dir:  runOf(decision.Candidate, len(list.Runs)),
				Side: []string{"candidate", "incumbent"}[random.IntN(2)], Stage: stages[stage],
				WarmUp: random.IntN(4) == 0, Counts: random.IntN(2) == 0,
			})
		}
		list.count()
		once := fmt.Sprint(list)
		counted := map[decision.Side]int{}
		for _, run := range list.Runs {
			assert.Equal(t, run.Stage == stages[stage] && !run.WarmUp, run.Counts)
			if run.Counts {
				counted[decision.Side(run.Side)]++
			}
		}
		list.count()
		require.Equal(t, once, fmt.Sprint(list), "counting twice changes nothing")
		for _, side := range []decision.Side{decision.Candidate, decision.Incumbent} {
			assert.Len(t, list.of(side), counted[side])
		}
	}
}

func TestDirectoriesOfRuns(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for side, names := range map[decision.Side][]string{
		decision.Candidate: {".", "run-2", "run-3"}, decision.Incumbent: {"incumbent-1", "incumbent-2", "incumbent-3"},
	} {
		for i, want := range names {
			dir := runOf(side, i+1)
			assert.Equal(t, want, dir)
			assert.False(t, seen[dir], "%s is of two runs", dir)
			assert.Regexp(t, runDir(), dir, "it can be read back")
			seen[dir] = true
		}
	}
}

func TestLabelsOfRuns(t *testing.T) {
	t.Parallel()
	w := &workspace.Workspace{Dir: "/ws"}
	for out, want := range map[string]string{
		w.Iteration(0): "iteration 0", w.Iteration(12): "iteration 12",
		filepath.Join(w.Iteration(3), "."):           "iteration 3",
		filepath.Join(w.Iteration(3), "run-2"):       "iteration 3, run 2",
		filepath.Join(w.Iteration(3), "incumbent-1"): "iteration 3, run 1 of the best version",
		filepath.Join(w.Iteration(3), "else-1"):      "iteration 3",
	} {
		assert.Equal(t, want, runLabel(w, out), out)
	}
	assert.Empty(t, runLabel(&workspace.Workspace{Dir: "relative"}, "/elsewhere"))
}

// TestWhatTheTableSays is of the best version, the last iteration, and the version
// that later ones are held against.
func TestWhatTheTableSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows              string // as their actions begin
		best, last, start int
	}{
		"nothing":                         {"", 0, 0, 0},
		"the original":                    {"b", 0, 0, 0},
		"only reverts":                    {"brrr", 0, 3, 0},
		"the last is the best":            {"brk", 2, 2, 0},
		"reverts after the best":          {"bkrkrr", 3, 5, 0},
		"measured anew":                   {"bkb", 2, 2, 2},
		"measured anew, and then reverts": {"bkbrr", 2, 4, 2},
		"measured anew, and then better":  {"bkbrk", 4, 4, 2},
		"measured anew twice":             {"bkbkb", 4, 4, 4},
	} {
		var rows []results.Row
		for n, action := range c.rows {
			rows = append(rows, results.Row{
				Iteration: n,
				Action: map[rune]results.Action{
					'b': results.Baseline, 'k': results.Kept,
					'r': results.Reverted,
				}[action],
			})
		}
		best, last := standing(rows)
		assert.Equal(t, []int{c.best, c.last, c.start}, []int{best, last, startOf(rows)}, name)
	}
}
