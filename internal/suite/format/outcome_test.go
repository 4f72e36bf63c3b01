package format_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite/format"
)

func TestParseOutcome(t *testing.T) {
	t.Parallel()
	o, problems := format.ParseOutcome("o.json", []byte(`{"configLabel": "main", "unknown": [1], "scores": [
		{"taskId": "a b", "objective": {"passed": 1, "total": 2}, "judge": {"score0to1": 0.1, "rationale": "r",
		"model": "m"}, "judgeWeight": 0.2,
		 "cost": {"tokens": 12345678901234567890, "toolCalls": null, "costUsd": 0.1}, "composite": 0.3,
		 "checks": [{"kind": "command", "name": "make", "passed": false, "detail": "exit code 2"}], "failure": null},
		{"taskId": "c", "objective": {"passed": 0, "total": 0}, "judge": null, "cost": null}]}`))
	require.NoError(t, problems.Err())
	require.Len(t, o.Scores, 2)
	first := o.Scores[0].Runs[0]
	assert.Equal(t, "0.2", o.Scores[0].JudgeWeight.String())
	assert.Equal(t, "12345678901234567890", first.Cost.Tokens.String(), "numbers are exact")
	assert.Nil(t, first.Cost.ToolCalls, "null is unknown")
	assert.Nil(t, first.Cost.Steps)
	assert.Equal(t, "0.3", first.Composite.String())
	assert.Equal(t, "m", first.Judge.Model)
	assert.Nil(t, o.Scores[1].Runs[0].Judge)
	assert.Nil(t, o.Scores[1].Runs[0].Composite, "missing: to be computed")
	assert.Equal(t, 1, o.Runs())
}

func TestOutcomeProblems(t *testing.T) {
	t.Parallel()
	entry := func(more string) string {
		return `{"scores": [{"taskId": "a", "objective": {"passed": 1, "total": 2}` + more + `}]}`
	}
	for name, c := range map[string]struct{ text, says string }{
		"half a check": {
			`{"scores": [{"taskId": "a", "objective": {"passed": 0.5, "total": 2}}]}`,
			"must be a whole number",
		},
		"fewer than none": {
			`{"scores": [{"taskId": "a", "objective": {"passed": -1, "total": 2}}]}`,
			"must be a whole number, 0 or more",
		},
		"a judge beyond 1": {
			entry(`, "judge": {"score0to1": 8}`),
			"scores[0].judge.score0to1: is 8; it",
		},
		"a composite beyond 1": {entry(`, "composite": 1.01`), "must be from 0 to 1"},
		"no runs":              {`{"runs": []}`, "runs: is empty"},
		"twice in one run": {`{"runs": [{"scores": []}, {"scores": [{"taskId": "a", "objective": {"passed": 1, ` +
			`"total": 1}}, {"taskId": "a", "objective": {"passed": 1, "total": 1}}]}]}`, "runs[1].scores[1].taskId"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, problems := format.ParseOutcome("o.json", []byte(c.text))
			require.Len(t, problems, 1, "%v", problems)
			assert.Contains(t, problems[0].String(), c.says)
			assert.Empty(t, o)
		})
	}
}
