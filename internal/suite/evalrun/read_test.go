package evalrun_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/tests/golden"
)

// suiteOf is a skill of cases c0, c1, … with one expectation each.
func suiteOf(count int) *evalrun.Skill {
	skill := &evalrun.Skill{Name: "s"}
	for i := range count {
		skill.Evals.Cases = append(skill.Evals.Cases,
			evals.Case{ID: fmt.Sprintf("c%d", i), Expectations: []string{"a", "b"}})
	}
	return skill
}

func grade(t testing.TB, dir, id, text string) {
	t.Helper()
	file := filepath.Join(dir, "eval-"+id, evalrun.GradingFile)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

const half = `{"summary": {"pass_rate": 1}, "expectations": [{"text": "a", "passed": true}, {"expectation": "b", ` +
	`"passed": false}, {"text": "c", "passed": true}]}`

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	grade(t, dir, "c0", half)
	grade(t, dir, "c1", `{"expectations": 7}`)
	grade(t, dir, "c3/outputs", half)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "eval-c4"), 0o755))
	require.NoError(t, os.Symlink("../eval-c0/grading.json", filepath.Join(dir, "eval-c4", evalrun.GradingFile)))
	outside := t.TempDir()
	grade(t, outside, "c5", half)
	require.NoError(t, os.Symlink(filepath.Join(outside, "eval-c5"), filepath.Join(dir, "eval-c5")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "eval-c3", evalrun.TranscriptFile), nil, 0o600))
	got, err := evalrun.Read(suiteOf(6), dir)
	require.NoError(t, err)
	assert.Equal(t, "1/12", got.Rate.RatString(), "half of one case of six")
	for i, want := range []string{
		"", "is no grading", "there is no eval-c2/grading.json", "its transcript.md says why",
		"no regular file", "escapes",
	} {
		if want == "" {
			assert.Empty(t, got.Cases[i].Problem)
			continue
		}
		assert.Contains(t, got.Cases[i].Problem, want, "case %d", i)
	}
	assert.Equal(t, []string{"c"}, got.Cases[0].Extra)
	_, err = evalrun.Read(suiteOf(1), filepath.Join(dir, "nothing"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestReadAll has three runs of a suite, of which none is the score alone.
func TestReadAll(t *testing.T) {
	t.Parallel()
	whole := `{"expectations": [{"text": "a", "passed": true}, {"text": "b", "passed": true}], "eval_feedback": ` +
		`{"overall": "well"}}`
	runs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	grade(t, runs[0], "c0", half)
	grade(t, runs[1], "c0", whole)
	grade(t, runs[1], "c1", whole)
	grade(t, runs[2], "c0", half)
	grade(t, runs[2], "c1", whole)
	skill := suiteOf(2)
	for name, c := range map[string]struct {
		runs   []string
		rate   string // the median of the runs'
		counts string // of what passed in each case
		// with the second case
	}{
		"one":   {runs[:1], "1/4", "1 0"},
		"three": {runs, "3/4", "4 4"},
		"one three times": {
			[]string{runs[0], runs[0], runs[0]},
			"1/4", "3 0",
		},
	} {
		got, err := evalrun.ReadAll(skill, c.runs...)
		require.NoError(t, err, name)
		assert.Equal(t, c.rate, got.Rate.RatString(), name)
		assert.Equal(t, c.counts, fmt.Sprint(got.Cases[0].Passed, got.Cases[1].Passed), name)
		golden.Row(t, name, got.Cases[1].Trouble())
		assert.Len(t, got.Cases[0].Gradings, len(c.runs), name)
		split := got.Runs()
		require.Len(t, split, len(c.runs), name)
		for i, dir := range c.runs {
			one, err := evalrun.Read(skill, dir)
			require.NoError(t, err)
			assert.Equal(t, one.Cases, split[i], "%s: the runs are as they were", name)
		}
	}
	got, err := evalrun.ReadAll(skill, runs...)
	require.NoError(t, err)
	assert.JSONEq(t, `{"overall": "well"}`, string(got.Cases[0].Feedback()), "what the first said that said something")
	_, err = evalrun.ReadAll(skill, runs[0], filepath.Join(runs[1], "gone"))
	require.ErrorIs(t, err, os.ErrNotExist, "a run that is lost is not left out")
}
