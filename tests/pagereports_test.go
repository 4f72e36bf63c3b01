package tests

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/render/page"
	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/score"
)

// browserSkill was improved twice in five versions; a case of it is graded by
// somebody who writes markup.
func browserSkill(t *testing.T, hostile string) *page.Skill {
	t.Helper()
	cases := []string{
		"breaking-change",
		"a-case-whose-name-is-as-long-as-names-of-cases-can-be-" + strings.Repeat("x", 26), "empty-log",
	}
	shown := &page.Skill{
		Generated: browserTime,
		Feedback: map[string][]string{cases[1]: {
			hostile,
			"the expectations look at names, and not at what is written",
		}},
		Queries: []page.Query{
			{Text: "write the notes of v2", Should: true, Right: []bool{false, true}},
			{Text: hostile, Right: []bool{true, true}},
		},
	}
	rates := []string{"0.1667", "0.4167", "0.6667", "0.5833", "0.9167"}
	var rows []results.Row
	best := 0
	for v := range rates {
		action := results.Reverted
		switch {
		case v == 0:
			action = results.Baseline
		case v%2 == 0:
			action, best = results.Kept, v
		}
		score, highest := metric.MustValue(rates[v]), metric.MustValue(rates[best])
		rows = append(rows, results.Row{
			Iteration: v, Score: &score, Best: &highest, Action: action,
			Changelog: "say how commits are grouped",
		})
		column := page.Column{Version: v, Kept: v%2 == 0}
		for i, id := range cases {
			grading := evals.Grading{Claims: json.RawMessage(
				`[{"claim": "all commits were read", "verified": false, "evidence": "the transcript shows git log -5"}]`)}
			scored := evals.CaseScore{ID: id, Total: 4}
			for k := range scored.Total {
				passed := k < v+i-1
				if passed {
					scored.Passed++
				}
				grading.Expectations = append(grading.Expectations, evals.Graded{
					Text:     fmt.Sprintf("%d: the notes name every commit that changes what users see", k+1),
					Passed:   passed,
					Evidence: []string{"line 3 names it", hostile}[i%2],
				})
			}
			scored.Gradings = []evals.Grading{grading}
			column.Cases = append(column.Cases, scored)
		}
		shown.Columns = append(shown.Columns, column)
	}
	shown.Report = render.NewSkillReport(rows, nil,
		false).WithTriggers([]render.SkillTriggers{{Version: 0, Right: 1, Total: 2}, {Version: 4, Right: 2, Total: 2}})
	shown.Report.Skill = "release-notes"
	shown.Report.Diff = "diff --git a/SKILL.md b/SKILL.md\n@@ -1 +1 @@\n-Write notes.\n" +
		"+Write one line for each commit that users see. " + strings.Repeat("long ", 60) + "\n"
	return shown
}

// browserComparison has three tasks with three runs on each side.
func browserComparison(t *testing.T, hostile string) *page.Comparison {
	t.Helper()
	quoted := func(text string) string {
		written, err := json.Marshal(text)
		require.NoError(t, err)
		return string(written)
	}
	side := func(label string, passed int) format.SuiteOutcome {
		var runs []string
		for run := range 3 {
			var tasks []string
			for i, id := range []string{"add-flag", "a-task-whose-name-is-as-long-as-names-of-tasks-can-be", "rename"} {
				var checks []string
				for k := range 3 {
					checks = append(checks,
						fmt.Sprintf(`{"kind": "command", "name": "go test ./... -run %d", "passed": %t, "detail": %s}`,
							k, k < passed+i%2,
							quoted(hostile)))
				}
				tasks = append(tasks,
					fmt.Sprintf(`{"taskId": %q, "objective": {"passed": %d, "total": 3}, "cost": {"costUsd": 0.0%d}, `+
						`"checks": [%s], "judge": {"score0to1": 0.%d, "rationale": %s}}`,
						id, passed+i%2, 4+run, strings.Join(checks, ","), 4+run+passed,
						quoted("it is done, and reads well "+hostile)))
			}
			runs = append(runs, fmt.Sprintf(`{"scores": [%s]}`, strings.Join(tasks, ",")))
		}
		o, problems := format.ParseOutcome("outcome.json",
			fmt.Appendf(nil, `{"configLabel": %q, "runs": [%s]}`, label, strings.Join(runs, ",")))
		require.Empty(t, problems)
		return o
	}
	before, after := side("main", 1), side("pull request", 2)
	return &page.Comparison{
		Generated: browserTime,
		Comparison: render.Comparison{
			Comparison: score.Compare(before, after, score.DefaultThresholds()), Before: before,
			After: after,
		},
	}
}
