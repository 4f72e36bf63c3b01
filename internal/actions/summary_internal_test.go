package actions

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/schedule"
)

func stepWith(vars map[string]string) Step {
	return Step{Getenv: func(name string) string { return vars[name] }, Environ: []string{"GITHUB_TOKEN=ghs_0123456789abcdef"}}
}

func ptr[T any](v T) *T { return &v }

func TestResultSummary(t *testing.T) {
	t.Parallel()
	evil := "<b>|[x](y) @me #1 `z`\n# heading ghs_0123456789abcdef"
	values := func(texts ...string) (list []metric.Value) {
		for _, text := range texts {
			list = append(list, metric.MustValue(text))
		}
		return list
	}
	r := loop.Result{
		Program: "speed", Iteration: 4, Outcome: history.Rejected, Verdict: ptr(decision.Neutral), Metric: ptr(metric.MustValue("1.5")), Initial: ptr(metric.MustValue("2")),
		BestMetric: ptr(metric.MustValue("1.25")), Delta: ptr("-0.25"), Noisy: true, Samples: loop.Samples{Incumbent: values("1", "2"), Candidate: values("3", "4.5")},
		Evidence: []history.Evidence{{Stage: "pairs", Pairs: 8, Confidence: 0.95, P: 0.0421, Low: metric.MustValue("-1"), High: metric.MustValue("0.5")}}, Reasons: []string{"too noisy", evil}, Summary: evil,
		Agent: "claude", Model: evil, Usage: &metric.Usage{InputTokens: ptr(int64(1200)), CostUSD: ptr(metric.MustValue("0.25"))},
		Evaluation: &history.Expense{Tokens: ptr(int64(3150)), UnknownUSD: 3}, Changed: []string{"a.go", evil},
		Guardrails: []loop.Rail{{Metric: evil, Direction: metric.Lower, Initial: ptr(metric.MustValue("5")), Allowed: history.Allowance{Value: metric.MustValue("10"), Percent: true}}},
		Issue:      7, PullRequest: 9, Warnings: []string{evil}, Stopped: "paused: " + evil, Seconds: 12.34,
	}
	const safe = "&lt;b&gt;\\|\\[x\\](y) @\u200bme #\u200b1 \\`z\\` #\u200b heading"
	text := resultSummary(stepWith(map[string]string{"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "org/repo"}), []loop.Result{r})
	for _, part := range []string{
		"## ❌ speed, iteration 4: rejected\n\n> " + safe, "| Verdict | neutral |", "| Metric | 1.5 |", "| Best | 1.25 |", "| At iteration 0 | 2 |", "| Against the best before | -0.25 |",
		"| Incumbent's samples | 1, 2 |", "| Candidate's samples | 3, 4.5 |", "| Test, pairs | p = 0.0421, shift -1 to 0.5 (95 %), 8 pairs |", "| Proposed by | claude " + safe,
		"| Cost | $0.25, 1200 tokens in |", "| Cost of measuring | 3150 tokens, 3 answers of unknown cost |", "| Time | 12.3 s |", "| Files changed | a.go, " + safe, "| [#9](https://github.com/org/repo/pull/9) |",
		"| [#7](https://github.com/org/repo/issues/7) |", " (lower is better) | 5 | — | 10 % |", "Why\n\n- too noisy\n- " + safe, "⚠️ Warnings\n\n- " + safe,
		"No further iteration: paused: " + safe,
	} {
		assert.Contains(t, text, part)
	}
	for _, part := range []string{"<b>", "@me", "[x](", "\n# ", "ghs_0123456789abcdef"} {
		assert.NotContains(t, text, part)
	}
	assert.Contains(t, resultSummary(stepWith(nil), []loop.Result{r}), "| Pull request | #9 |", "no link without a server")
	assert.Contains(t, resultSummary(stepWith(nil), nil), "Nothing ran")
}

// TestSummariesAreBounded: GitHub refuses a summary of more than a megabyte.
func TestSummariesAreBounded(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	long := strings.Repeat("<&@", 10_000)
	many := make([]string, 1000)
	for i := range many {
		many[i] = long
	}
	results := make([]loop.Result, 1000)
	for i := range results {
		results[i] = loop.Result{Program: "p", Outcome: history.Rejected, Summary: long, Reasons: many, Warnings: many, Changed: many, Stopped: long}
	}
	text := resultSummary(stepWith(nil), results)
	assert.Less(t, len(text), limit)
	assert.Contains(t, text, "more iterations are in the report")
	plan := &schedule.Plan{Warnings: many}
	for i := range 10_000 {
		plan.Skipped = append(plan.Skipped, schedule.Skipped{Name: fmt.Sprint(i), Reason: long})
	}
	plan.Errors = append(plan.Errors, schedule.Failure{Name: "last", File: "x.md", Message: "wrong"})
	text = planSummary(plan)
	assert.Less(t, len(text), limit)
	assert.Contains(t, text, "| last | error: x.md: wrong |", "what needs a person is not left out")
	assert.Contains(t, text, "9801 more are in the report")
}
