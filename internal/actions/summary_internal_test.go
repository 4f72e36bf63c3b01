package actions

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/tests/golden"
)

func stepWith(vars map[string]string) Step {
	return Step{
		Getenv:  func(name string) string { return vars[name] },
		Environ: []string{"GITHUB_TOKEN=ghs_0123456789abcdef"},
	}
}

func ptr[T any](v T) *T { return &v }

// evil is what an agent or an evaluation might say, stranger what a file or an issue
// might.
const (
	stranger = "<b>|[x](y) @me #1 `z`\n# heading"
	evil     = stranger + " ghs_0123456789abcdef"
)

func values(texts ...string) (list []metric.Value) {
	for _, text := range texts {
		list = append(list, metric.MustValue(text))
	}
	return list
}

// tried are results of every kind.
func tried() map[string]render.Result {
	pointer := func(text string) *metric.Value { return ptr(metric.MustValue(text)) }
	rejected := render.Result{
		Program: "speed", Iteration: 4, Outcome: history.Rejected, Verdict: ptr(decision.Neutral),
		Metric: pointer("1.5"), Initial: pointer("2"),
		BestMetric: pointer("1.25"), Delta: ptr("+0.25"), Noisy: true,
		Samples: render.Samples{Incumbent: values("1", "2"), Candidate: values("3", "4.123456789")},
		Evidence: []decision.Evidence{{
			Stage: "pairs", Pairs: 8, Confidence: 0.95,
			Effect: statistics.Effect{P: 0.0421, Low: metric.MustValue("-1"), High: metric.MustValue("0.5")},
		}},
		Reasons: decision.Says("too noisy", evil), Summary: evil,
		Agent: "claude", Model: evil, Usage: &metric.Usage{InputTokens: ptr(int64(1200)), CostUSD: pointer("0.25")},
		Evaluation: &history.Expense{Tokens: ptr(int64(3150)), UnknownUSD: 3}, Changed: []string{"a.go", evil},
		Transcript: "/tmp/x",
		Guardrails: []render.Rail{{
			Guardrail: decision.Guardrail{
				Metric: evil, Direction: metric.Lower,
				MaxRegression: decision.Allowance{Value: metric.MustValue("10"), Percent: true},
			},
			Initial: pointer("5"),
		}},
		Issue: 7, PullRequest: 9, Warnings: []string{evil}, Stopped: "paused: " + evil, Seconds: 12.34,
	}
	accepted := render.Result{
		Program: "speed", Iteration: 5, Outcome: history.Accepted, Verdict: ptr(decision.Improved),
		Metric: pointer("1.123456789"), Initial: pointer("2"), BestMetric: pointer("1.123456789"),
		Delta: ptr("-0.126543211"), Reasons: decision.Lines{{
			Kind: decision.Better, Value: pointer("1.123456789"),
			Beside: pointer("1.25"), Term: "lower",
		}}, Summary: "halve the step", Agent: "tuner",
		Changed: []string{"a.conf"},
		Commit:  ptr(strings.Repeat("c", 40)), Issue: 7, PullRequest: 9, Seconds: 3,
	}
	failing := accepted
	failing.Outcome, failing.Reasons = history.CIFixExhausted, decision.Says("stuck in CI fix loop: build: expected 3")
	failing.Failing = []history.Check{{Name: "build", URL: "https://github.com/org/repo/actions/runs/3/job/4"}}
	waiting := failing
	waiting.Outcome, waiting.Reasons, waiting.Failing = history.PendingCI,
		decision.Says("CI did not answer yet; a later run goes on", "build is in progress"), nil
	proposed, nothing := accepted, rejected
	proposed.Bundle, proposed.Commit, nothing.Bundle = "/tmp/bundle", nil, "/tmp/bundle"
	broken := render.Result{
		Program: "speed", Iteration: 6, Outcome: history.Error, BestMetric: pointer("1.25"),
		Initial: pointer("2"), Reasons: decision.Says("the evaluation fails: exit code 2"), Agent: "claude", Seconds: 1,
	}
	idle := render.Result{
		Program: "speed", Iteration: 6, Outcome: history.Idle, Reasons: decision.Says("not due yet"),
		Stopped: "paused: by hand; say `/autoloop resume`, or run `iterate resume speed`",
	}
	return map[string]render.Result{
		"rejected": rejected, "accepted": accepted, "ci-failed": failing, "waiting": waiting, "proposed": proposed,
		"proposed-worse": nothing, "error": broken, "idle": idle,
	}
}

// TestResultSummary has a golden file for every kind of result.
func TestResultSummary(t *testing.T) {
	t.Parallel()
	step := stepWith(map[string]string{
		"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "org/repo",
		"GITHUB_RUN_ID": "12", "GITHUB_ACTIONS": "true",
	})
	p := &program.Program{Name: "speed", Metric: "seconds", Direction: metric.Lower}
	for name, r := range tried() {
		text := resultSummary(step, p, []render.Result{r})
		golden.Equal(t, name+".md", text)
		for _, part := range []string{"<b>", "@me", "[x](", "\n# ", "0123456789", "6789abcdef"} {
			assert.NotContains(t, text, part, name)
		}
		if r.Bundle != "" {
			assert.NotContains(t, text, "accepted", "only the job that publishes decides")
		}
	}
	assert.Contains(t, resultSummary(stepWith(nil), nil, []render.Result{tried()["accepted"]}), "pull request #9",
		"no link without a server")
	assert.Contains(t, resultSummary(stepWith(nil), nil, nil), "Nothing ran")
}

func TestPlanSummary(t *testing.T) {
	t.Parallel()
	full := &schedule.Plan{
		Selected: ptr("speed"), Reason: "due since 2026-03-04T11:00:00Z, 1 hour late",
		Matrix: schedule.Matrix{Program: []string{"speed", "size"}},
		Errors: []schedule.Failure{{
			Name:    "broken",
			Problem: program.Problem{File: ".autoloop/programs/broken.md", Line: 5, Message: stranger},
		}},
		Untrusted:    []schedule.Untrusted{{Name: "mels", Issue: 4, Reason: "mel may not push " + stranger}},
		Unconfigured: []string{"example"}, Deferred: []string{"later"}, Warnings: []string{stranger},
		Skipped: []schedule.Skipped{
			{Name: "waits", Reason: "not due yet: next at 2026-03-04T18:00:00Z"},
			{Name: "rests", Reason: "paused: by a comment of alice"},
			{Name: "spent", Reason: "budget: 2 of 2 iterations used this day"},
			{Name: "done", Reason: "completed: target reached"},
		},
	}
	for name, plan := range map[string]*schedule.Plan{
		"plan": full, "plan-nothing-due": {NotDue: true, Skipped: full.Skipped[:1]},
		"plan-no-programs":  {NoPrograms: true},
		"plan-all-in-error": {Errors: full.Errors}, "plan-stopped": {Reason: "AUTOLOOP_PAUSED is true"},
	} {
		golden.Equal(t, name+".md", planSummary(plan))
	}
	golden.Equal(t, "begin.md", reservationsSummary([]loop.Reservation{
		{Program: "speed", Begun: true, Iteration: 3},
		{Program: "rests", Reason: "paused: " + stranger},
		{Program: "broken", Failed: true, Reason: "no issue #7"},
	}))
	assert.Empty(t, reservationsSummary([]loop.Reservation{{Program: "speed", Begun: true}}))
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
	results := make([]render.Result, 1000)
	for i := range results {
		results[i] = render.Result{
			Program: "p", Outcome: history.Rejected, Summary: long,
			Reasons: decision.Says(many...), Warnings: many, Changed: many, Stopped: long,
		}
	}
	text := resultSummary(stepWith(nil), nil, results)
	assert.Less(t, len(text), limit)
	assert.Contains(t, text, "more iterations are in the report")
	plan := &schedule.Plan{Warnings: many}
	for i := range 10_000 {
		plan.Skipped = append(plan.Skipped, schedule.Skipped{Name: fmt.Sprint(i), Reason: long})
	}
	plan.Errors = append(plan.Errors, schedule.Failure{
		Name: "last", Problem: program.Problem{File: "x.md", Message: "wrong"},
	})
	text = planSummary(plan)
	assert.Less(t, len(text), limit)
	assert.Contains(t, text, "| last | error: x.md: wrong |", "what needs a person is not left out")
	assert.Contains(t, text, "9801 more are in the report")
}
