package page_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/render/page"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/score"
)

func outcome(t *testing.T, text string) format.SuiteOutcome {
	t.Helper()
	o, problems := format.ParseOutcome("outcome.json", []byte(text))
	require.Empty(t, problems)
	return o
}

func TestComparisonAsAPage(t *testing.T) {
	t.Parallel()
	const hostile = `</script><script>alert(1)</script>`
	run := func(passed string) string {
		return `{"scores": [{"taskId": "add-flag", "objective": {"passed": ` + passed +
			`, "total": 4}, "cost": {"costUsd": 0.04},
			"judge": {"score0to1": 0.5, "rationale": "` + hostile + `"},
			"checks": [{"kind": "command", "name": "go test", "passed": ` + map[bool]string{
			true:  "true",
			false: "false",
		}[passed > "2"] + `},
			{"kind": "command", "name": "` + hostile + `", "passed": false, "detail": "` + hostile + `"}]}]}`
	}
	before := outcome(t, `{"configLabel": "`+hostile+`", "runs": [`+run("1")+`,`+run("2")+`]}`)
	after := outcome(t, `{"configLabel": "b", "runs": [`+run("3")+`,`+run("4")+`]}`)
	shown := page.Comparison{Comparison: render.Comparison{Comparison: score.Compare(before, after,
		score.Thresholds{ObjectiveDropIsRegression: true}), Before: before, After: after}}
	rows := shown.Rows()
	require.Len(t, rows, 1)
	assert.Equal(t, "3 of 8", rows[0].Before.Objective)
	assert.Equal(t, "7 of 8", rows[0].After.Objective)
	assert.InDelta(t, 0.15, rows[0].After.High-rows[0].After.Low, 1e-9, "0.6 times a quarter apart")
	checks := rows[0].Checks()
	require.Len(t, checks, 2)
	assert.Equal(t, page.TaskCheck{
		Kind: "command", Name: "go test", Before: page.Tally{Runs: 2},
		After: page.Tally{Passed: 2, Runs: 2},
	}, checks[0])
	assert.Equal(t, page.Tally{Runs: 2, Evidence: hostile}, checks[1].After)
	var b bytes.Buffer
	require.NoError(t, shown.Write(&b))
	text := b.String()
	assert.NotContains(t, text, "<script")
	assert.Contains(t, text, "&lt;/script&gt;")
	assert.Equal(t, 4, strings.Count(text, `<li>judge: 0.5 <span class="quiet"><bdi>&lt;/script&gt;`),
		"of two runs a side")
	assert.NotContains(t, text, "%!")
}
