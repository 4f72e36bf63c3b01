package render_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/suite/tasks"
	"github.com/org/autoloop/tests/golden"
)

func parsed(t *testing.T, text string) tasks.SuiteOutcome {
	t.Helper()
	o, err := tasks.ParseOutcome("outcome", []byte(text))
	require.NoError(t, err)
	return o
}

func comparison(t *testing.T) render.Comparison {
	t.Helper()
	before := parsed(t, `{"configLabel": "main", "scores": [
		{"taskId": "add-flag", "objective": {"passed": 3, "total": 4}, "judge": {"score0to1": 0.6, "rationale": "does <b>what</b> @someone asked in #12"}, "cost": {"tokens": 5000, "costUsd": 0.04}},
		{"taskId": "fix|bug", "objective": {"passed": 2, "total": 2}, "cost": {"tokens": 100, "costUsd": 0.01}},
		{"taskId": "gone", "objective": {"passed": 1, "total": 1}, "cost": {"tokens": 100, "costUsd": 0.01}}]}`)
	after := parsed(t, `{"configLabel": "pull request", "scores": [
		{"taskId": "add-flag", "objective": {"passed": 4, "total": 4}, "judge": {"score0to1": 0.8, "rationale": "better"}, "cost": {"tokens": 5000, "costUsd": 0.04}},
		{"taskId": "fix|bug", "objective": {"passed": 1, "total": 2}, "cost": {"tokens": 90, "costUsd": 0.01}, "failure": "the agent timed out",
		 "checks": [{"kind": "fileExists", "name": "a.txt", "passed": true}, {"kind": "command", "name": "make test", "passed": false, "detail": "exit code 2:\n\u001b[31mFAIL\u001b[0m [x](javascript:y)"}],
		 "transcript": "runs/1/transcript.txt", "diff": "../../etc/passwd"},
		{"taskId": "new", "objective": {"passed": 1, "total": 1}, "cost": {"tokens": 100, "costUsd": 0.01}}]}`)
	return render.Comparison{
		Comparison: tasks.Compare(before, after, tasks.DefaultThresholds()), Baseline: before, Candidate: after,
	}
}

func TestComparisonAsText(t *testing.T) {
	t.Parallel()
	golden.Equal(t, "comparison.txt", comparison(t).Text())
}

func TestComparisonAsMarkdown(t *testing.T) {
	t.Parallel()
	golden.Equal(t, "comparison.md", comparison(t).Markdown())
}

// repeated is a comparison of five runs a side, whose costs make long numbers, and
// whose candidate fails one check in every run and another one in two of them.
func repeated(t *testing.T) render.Comparison {
	t.Helper()
	side := func(label string, tokens int, usd string) tasks.SuiteOutcome {
		var runs []string
		for k := range 5 {
			failed := `{"kind": "command", "name": "make test", "passed": false, "detail": "exit code 2"}`
			if k%3 == 0 {
				failed += `, {"kind": "fileExists", "name": "a*b", "passed": false}`
			}
			runs = append(runs, fmt.Sprintf(
				`{"scores": [{"taskId": "add-flag", "objective": {"passed": 1, "total": 3}, "cost": {"tokens": %d, `+
					`"costUsd": %s}, "checks": [%s], "transcript": "runs/%d/t.txt"}]}`,
				tokens+137*k, usd, failed, k+1))
		}
		return parsed(t, fmt.Sprintf(`{"configLabel": %q, "runs": [%s]}`, label, strings.Join(runs, ", ")))
	}
	before, after := side("main", 34567, "0.0412345"), side("pull request", 31234, "0.0398765")
	return render.Comparison{
		Comparison: tasks.Compare(before, after, tasks.DefaultThresholds()), Baseline: before, Candidate: after,
	}
}

// TestComparisonIsShort: nobody needs six digits of a composite, nor the same
// failure five times.
func TestComparisonIsShort(t *testing.T) {
	t.Parallel()
	c := repeated(t)
	require.Regexp(t, `\d\.\d{5}`, c.Deltas[0].Composite.String(), "the record has all digits")
	for _, text := range []string{c.Text(), c.Markdown()} {
		for _, number := range regexp.MustCompile(`\d+\.\d+`).FindAllString(text, -1) {
			assert.LessOrEqual(t, len(strings.TrimLeft(strings.ReplaceAll(number, ".", ""), "0")), 4, "%s in\n%s",
				number, text)
		}
		assert.Equal(t, 1, strings.Count(text, "make test"), text)
		assert.Contains(t, text, "add-flag (every run): ")
		assert.Contains(t, text, "add-flag (runs 1, 4): ")
	}
	assert.Contains(t, c.Text(), "fileExists a*b", "no markup on a terminal")
	assert.NotContains(t, c.Text(), "\u200b")
}
