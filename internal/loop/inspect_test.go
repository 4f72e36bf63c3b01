package loop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
)

// TestInspections: two runs say whether the evaluation works and repeats itself; where
// it does not, as many follow as a comparison has, but no more than show how it scatters.
// Then the largest target file is broken in both ways.
func TestInspections(t *testing.T) {
	t.Parallel()
	shared := newTrialRepo(t)
	noisy := func(c call) evaluation.Result {
		if c.side == "incumbent" {
			return unlike(c)
		}
		return steady(c)
	}
	for name, c := range map[string]struct {
		front   string
		runs    func(call) evaluation.Result
		sides   string
		noisy   bool
		regime  string
		samples string
		problem string
	}{
		"steady": {"", steady, "iieg", false, "repeatable", "1 1", ""},
		"noisy":  {"", noisy, "iiiiiiiieg", true, "noisy", "4 2 8 5 1 4 2 8", ""},
		"very many are asked for": {
			"evaluation-runs: 400", steady, strings.Repeat("i", 30) + "eg", false, "noisy",
			strings.TrimSpace(strings.Repeat("1 ", 30)), "",
		},
		"it fails later": {
			"", spoiled(noisy, "incumbent", 5, failure), "iiiiii", true, "noisy", "4 2 8 5",
			"exit code 3",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _, _ := shared.on(t, c.front, c.runs)
			most, ways := EnoughRuns, []string{Emptied, Nonsense}
			before := l.refs()
			got, err := l.service.Inspect(t.Context(), most, ways...)
			require.NoError(t, err)
			l.leavesNothing()
			assert.Equal(t, before, l.refs(), "nothing is written")
			assert.Equal(t, c.sides, l.sides())
			assert.Equal(t, c.noisy, got.Noisy)
			assert.EqualValues(t, c.regime, got.Rule.Regime)
			assert.Equal(t, c.samples, joined(got.Samples))
			assert.Contains(t, got.Problem, c.problem)
			assert.Equal(t, c.problem == "", got.Problem == "")
			assert.Len(t, got.Broken, strings.Count(c.sides, "e")*2)
			for i, broken := range got.Broken {
				assert.Equal(t, []any{"value.txt", []string{Emptied, Nonsense}[i]}, []any{broken.File, broken.How})
				assert.False(t, broken.Unnoticed)
				assert.False(t, broken.Gain)
				assert.Empty(t, broken.Problem)
			}
			if c.samples != "" {
				assert.Equal(t, "p", got.Program)
				assert.Equal(t, l.git("rev-parse", "main"), got.Commit)
				assert.Positive(t, got.Prepare)
				assert.Positive(t, got.Seconds)
			}
		})
	}
	l, _, _ := shared.on(t, "", steady)
	l.fails = func(call) error { return os.ErrPermission }
	_, err := l.service.Inspect(t.Context(), EnoughRuns)
	require.ErrorIs(t, err, os.ErrPermission)
	l.leavesNothing()
}

// TestIncumbentIsInspected: the head of the program branch where it has one, and the
// guardrails' numbers are what its runs gave.
func TestIncumbentIsInspected(t *testing.T) {
	t.Parallel()
	b := newFixture(
		t,
		"guardrails:\n  - metric: size\n    direction: lower\n    max-regression: 5",
		`{"m": 1, "size": 6}`,
		`{"m": 3, "size": 7}`,
	)
	found, err := b.service.Inspect(t.Context(), 0)
	require.NoError(t, err)
	assert.Equal(t, map[string][]metric.Value{"size": {metric.MustValue("6"), metric.MustValue("6")}}, found.Guardrails)
	b.one()
	found, err = b.service.Inspect(t.Context(), 0)
	require.NoError(t, err)
	assert.Equal(t, b.git("rev-parse", "autoloop/p"), found.Commit)
	assert.Equal(t, "3", found.Median.String())
	assert.Equal(t, map[string][]metric.Value{"size": {metric.MustValue("7"), metric.MustValue("7")}}, found.Guardrails)

	b.git("checkout", "--quiet", "autoloop/p")
	b.git("branch", "-D", "--quiet", "main")
	b.git("update-ref", "-d", "refs/heads/autoloop/p")
	b.git("update-ref", "-d", "refs/heads/memory/autoloop")
	_, err = b.service.Inspect(t.Context(), EnoughRuns)
	require.Error(t, err, "there is no branch to look at")
}

// TestMeasureOfBrokenFile: a number between those of the unchanged files was not noticed,
// one that is better than all of them is a gain.
func TestMeasureOfBrokenFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		samples, broken string
		direction       metric.Direction
		unnoticed, gain bool
	}{
		{"5", "5", metric.Higher, true, false},
		{"5", "4", metric.Higher, false, false},
		{"5", "6", metric.Higher, false, true},
		{"5", "4", metric.Lower, false, true},
		{"5", "6", metric.Lower, false, false},
		{"7 3 5", "3", metric.Higher, true, false},
		{"7 3 5", "7", metric.Higher, true, false},
	} {
		var samples []metric.Value
		for _, text := range strings.Fields(c.samples) {
			samples = append(samples, *metricOf(text))
		}
		b := Breakage{Metric: metricOf(c.broken)}
		b.judge(samples, c.direction)
		assert.Equal(t, []bool{c.unnoticed, c.gain}, []bool{b.Unnoticed, b.Gain}, "%+v", c)
	}
}

// TestBreakFiles: regular files are broken, one that is missing is made, and nothing
// outside the tree is touched, wherever links lead.
func TestBreakFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		how, file string
		want      string // the text of the file afterwards; "-" is that nobody looks
	}{
		"a file is emptied":           {Emptied, "a.txt", ""},
		"a file is garbled":           {Nonsense, "a.txt", "one\n" + nonsense},
		"one that is missing is made": {Nonsense, "x/y/new.txt", nonsense},
		"a directory stays":           {Emptied, "sub", "-"},
		"a link stays":                {Emptied, "link", "outside"},
		"below a link that leads out": {Emptied, "out/secret.txt", "outside"},
		"below a file":                {Emptied, "a.txt/b", "-"},
	} {
		around := t.TempDir()
		dir := filepath.Join(around, "tree")
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(around, "secret.txt"), []byte("outside"), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o600))
		for link, target := range map[string]string{
			"link": "../secret.txt", "dangling": "nowhere", "out": "..", "beside": "sub",
		} {
			require.NoError(t, os.Symlink(target, filepath.Join(dir, link)))
		}
		require.NoError(t, breakFiles(dir, c.how, c.file), name)
		if c.want != "-" {
			text, err := os.ReadFile(filepath.Join(dir, c.file))
			require.NoError(t, err)
			assert.Equal(t, c.want, string(text), name)
		}
		secret, err := os.ReadFile(filepath.Join(around, "secret.txt"))
		require.NoError(t, err)
		assert.Equal(t, "outside", string(secret), name)
		for _, file := range []string{"more", "tree/nowhere", "tree/sub/new.txt"} {
			assert.NoFileExists(t, filepath.Join(around, file), name)
			assert.NoDirExists(t, filepath.Join(around, file), name)
		}
	}
	require.ErrorContains(t, breakFiles(t.TempDir(), Emptied, "../secret.txt"),
		"break ../secret.txt in a throw-away")
	require.Error(t, breakFiles(filepath.Join(t.TempDir(), "gone"), Emptied, "a"))
}
