package render_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
)

func TestLogOfADecision(t *testing.T) {
	t.Parallel()
	value := metric.MustValue("1.2345678")
	cost := metric.MustValue("0.0123")
	two := []metric.Value{value, value}
	e := &history.Decided{
		Head:    history.Head{Iteration: 7, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Run: "r"},
		Outcome: history.Rejected, Metric: &value,
		Reasons:  decision.Says("slower", "by\nmuch"),
		Evidence: []decision.Evidence{{Effect: statistics.Effect{P: 0.5}}, {Effect: statistics.Effect{P: 0.25}}},
		Commit:   "c0ffee",
		Work: history.Work{
			Durations: map[string]float64{"propose": 2, "measure": 4}, Agent: "a", Model: "m",
			Summary: "tried", Changed: []string{"x", "y"},
			Usage: &metric.Usage{Turns: new(2), InputTokens: new(int64(700)), CostUSD: &cost},
		},
	}
	assert.Equal(t, []string{"7", "2026-01-02 03:04", "not kept", "1.23", "—", "slower; by much"}, render.LogRow(e))
	assert.Equal(t, []string{
		"7", "2026-01-02T03:04:05Z", "rejected", "1.2345678", "", "1.5", "0.25", "c0ffee",
		"tried", "a", "2", "700", "0.0123",
	}, render.LogRecord(e, 1.5))
	assert.Len(t, render.LogRecord(e, 0), len(render.LogFields()))
	assert.Equal(t, "iteration  7\ntime       2026-01-02T03:04:05Z\noutcome    not kept\nsummary    tried\n"+
		"agent      a m\nmetric     1.23\n"+
		"one run    1.5 s\ntook       12 s: agent 2 s, evaluation 7 s, trees and setup 2 s, git and GitHub 1 s\n"+
		"used       2 turns, 700 tokens, 0.0123 USD\n"+
		"commit     c0ffee\nchanged    x, y\nreason     slower\nreason     by much\n",
		render.Decision(&history.Decisions{
			Found: e, Seconds: 1.5, Took: 12 * time.Second,
			Measured: []*history.Measured{
				{Role: history.Baseline, Samples: two, Seconds: 2, Prepare: 0.5},
				{Role: history.Candidate, Stage: "once", Samples: two[:1], Seconds: 3},
			},
		}))
	e.Outcome = history.Accepted
	assert.Equal(t, "tried", render.LogRow(e)[5], "what was kept is said by what it did")
}

func TestFailedOutputIsTheLast(t *testing.T) {
	t.Parallel()
	decided := &history.Decided{Head: history.Head{Run: "r"}}
	failed := func(run, output string, role history.Role) *history.Measured {
		return &history.Measured{Head: history.Head{Run: run}, Role: role, Problem: "exit code 1", Output: output}
	}
	assert.Equal(t, "\nthe evaluation printed, at its end:\n  two\n  three\n", render.FailedOutput([]*history.Measured{
		failed("r", "one\n", history.Candidate), failed("r", "two\nthree\n", history.Candidate),
		failed("r", "no\n", history.Incumbent), failed("other", "no\n", history.Candidate),
	}, decided))
	assert.Empty(t, render.FailedOutput([]*history.Measured{
		failed("r", "one\n", history.Candidate),
		{Head: history.Head{Run: "r"}, Role: history.Candidate, Output: "fine\n"},
	}, decided), "the last one worked")
}
