package loop

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/loop/evaluation"
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
