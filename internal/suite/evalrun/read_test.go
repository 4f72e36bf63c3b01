package evalrun

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/tests/golden"
	"github.com/org/autoloop/tests/testdir"
)

// suiteOf is a skill of cases c0, c1, … with two expectations each.
func suiteOf(count int) *Skill {
	skill := &Skill{Name: "s"}
	for i := range count {
		skill.Cases = append(skill.Cases,
			suite.Case{ID: fmt.Sprintf("c%d", i), Expectations: []string{"a", "b"}})
	}
	return skill
}

const (
	half = `{"summary": {"pass_rate": 1}, "expectations": [{"text": "a", "passed": true}, {"expectation": "b", ` +
		`"passed": false}, {"text": "c", "passed": true}]}`
	whole = `{"expectations": [{"text": "a", "passed": true}, {"text": "b", "passed": true}], "eval_feedback": ` +
		`{"overall": "well"}}`
)

func TestRead(t *testing.T) {
	t.Parallel()
	outside := testdir.New(t, tree{"grading.json": half})
	dir := testdir.New(t, tree{
		"eval-c0/grading.json": half, "eval-c1/grading.json": `{"expectations": 7}`,
		"eval-c3/outputs/grading.json": half, "eval-c3/transcript.md": "",
		"eval-c4/grading.json": "-> ../eval-c0/grading.json",
		"eval-c5":              "-> " + outside,
	})
	got, err := ReadAll(suiteOf(6), dir)
	require.NoError(t, err)
	assert.Equal(t, "0.083333333333", got.Rate.String(), "half of one case of six")
	assert.Empty(t, got.Cases[0].Problem)
	for i, want := range []string{
		"eval-c1/grading.json:1: ", "there is no eval-c2/grading.json",
		"its transcript.md says why", "no regular file", "escapes",
	} {
		assert.Contains(t, got.Cases[i+1].Problem, want)
	}
	_, err = ReadAll(suiteOf(1), filepath.Join(dir, "nothing"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestReadAll has three runs of a suite, of which none is the score alone.
func TestReadAll(t *testing.T) {
	t.Parallel()
	one := testdir.New(t, tree{"eval-c0/grading.json": half})
	two := testdir.New(t, tree{"eval-c0/grading.json": whole, "eval-c1/grading.json": whole})
	three := testdir.New(t, tree{"eval-c0/grading.json": half, "eval-c1/grading.json": whole})
	skill := suiteOf(2)
	for name, c := range map[string]struct {
		runs   []string
		rate   string // the median of the runs'
		counts string // of what passed in each case
	}{
		"one":             {[]string{one}, "1/4", "1 0"},
		"three":           {[]string{one, two, three}, "3/4", "4 4"},
		"one three times": {[]string{one, one, one}, "1/4", "3 0"},
	} {
		got, err := ReadAll(skill, c.runs...)
		require.NoError(t, err, name)
		assert.Equal(t, c.rate, got.Rate.Rat().RatString(), name)
		assert.Equal(t, c.counts, fmt.Sprint(got.Cases[0].Passed, got.Cases[1].Passed), name)
		golden.Row(t, name, got.Cases[1].Trouble())
		split := got.Runs
		require.Len(t, split, len(c.runs), name)
		for i, dir := range c.runs {
			one, err := ReadAll(skill, dir)
			require.NoError(t, err)
			assert.Equal(t, one.Cases, split[i], "%s: the runs are as they were", name)
		}
	}
	got, err := ReadAll(skill, one, two)
	require.NoError(t, err)
	assert.JSONEq(t, `{"overall": "well"}`, string(got.Cases[0].Feedback), "what the first said that said something")
	_, err = ReadAll(skill, one, filepath.Join(two, "gone"))
	require.ErrorIs(t, err, os.ErrNotExist, "a run that is lost is not left out")
}
