package loop

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
	"github.com/org/autoloop/internal/metric"
)

// TestSamplesOfAResult are those of the last stage of the candidate that decides.
func TestSamplesOfAResult(t *testing.T) {
	t.Parallel()
	run := func(stage decision.Stage, role history.Role, number int, value string) history.Event {
		return &history.Measured{Stage: stage, Role: role, Proposal: number, Samples: []metric.Value{*metricOf(value)}}
	}
	for name, c := range map[string]struct {
		events               []history.Event
		incumbent, candidate string
	}{
		"nothing": {nil, "", ""},
		"once":    {[]history.Event{run(decision.Once, history.Candidate, 0, "2")}, "", "2"},
		"the last stage": {[]history.Event{
			run(decision.Once, history.Candidate, 0, "2"),
			run(decision.Again, history.Incumbent, 0, "3"), run(decision.Again, history.Candidate, 0, "4"),
		}, "3", "4"},
		"one side of it": {[]history.Event{
			run(decision.Pairs, history.Incumbent, 0, "1"),
			run(decision.Pairs, history.Candidate, 0, "2"), run(decision.Confirmation, history.Candidate, 0, "3"),
		}, "", "3"},
		"of another": {[]history.Event{
			run(decision.Once, history.Candidate, 0, "2"),
			run(decision.Pairs, history.Candidate, 2, "9"),
		}, "", "2"},
		"of a held gain": {[]history.Event{
			run(decision.Once, history.Candidate, 0, "2"),
			run(decision.Held, history.Emptied, 0, "9"),
		}, "", "2"},
		"with an outcome": {[]history.Event{
			run(decision.Once, history.Candidate, 0, "2"),
			&history.Proposed{},
		}, "", "2"},
	} {
		samples := samplesOf(&proposal.Proposal{Measured: c.events, Decided: &history.Decided{}})
		words := func(values []metric.Value) string {
			if len(values) == 0 {
				return ""
			}
			return values[0].String()
		}
		assert.Equal(t, c.incumbent, words(samples.Incumbent), name)
		assert.Equal(t, c.candidate, words(samples.Candidate), name)
	}
}

// TestGuardrailsOfAResult: what they stood at, as far as it was measured.
func TestGuardrailsOfAResult(t *testing.T) {
	t.Parallel()
	p := programWith("guardrails:\n  - {metric: g, direction: lower, max-regression: 5%}\n"+
		"  - {metric: h, direction: higher, max-regression: 2}", "")
	first := &history.Measured{
		Role: history.Baseline, Metric: metricOf("1"), Samples: numbers("1", "1", "1"),
		GuardrailSamples: map[string][]metric.Value{"g": numbers("1", "9", "2"), "h": numbers("4", "4", "4")},
	}
	candidate := &history.Measured{
		Head: history.Head{Iteration: 1}, Role: history.Candidate, Metric: metricOf("3"),
		GuardrailSamples: map[string][]metric.Value{"g": numbers("7", "5", "6")},
	}
	decided := &history.Decided{Head: history.Head{Iteration: 1}, Outcome: history.Rejected}
	decided.Agent, decided.Changed, decided.Usage = "a", []string{"f"}, &metric.Usage{}
	r, _ := inMemory(t, p, first, candidate, decided)
	result := Result{Iteration: 1, Outcome: history.Rejected}
	r.detail(&result)
	require.Len(t, result.Guardrails, 2)
	assert.Equal(t, "2", result.Guardrails[0].Initial.String())
	assert.Equal(t, "6", result.Guardrails[0].Candidate.String())
	assert.Equal(t, metric.Lower, result.Guardrails[0].Direction)
	assert.True(t, result.Guardrails[0].Allowed.Percent)
	assert.Equal(t, "4", result.Guardrails[1].Initial.String())
	assert.Nil(t, result.Guardrails[1].Candidate, "it was not measured")
	assert.Equal(t, "a", result.Agent)
	assert.Equal(t, []string{"f"}, result.Changed)
	for _, other := range []Result{{Iteration: 2, Outcome: history.Rejected}, {Iteration: 1, Outcome: history.Idle}} {
		r.detail(&other)
		assert.Empty(t, other.Guardrails, "the decision is on another iteration")
		assert.Empty(t, other.Agent)
	}
	none, _ := inMemory(t, p)
	none.records = nil
	none.detail(&result)
	assert.Equal(t, "a", result.Agent, "without records nothing is known, and nothing is changed")
}

// TestIssueAndPullRequestOfAResult: the issue is the newest that is known, a pull request
// one that is open.
func TestIssueAndPullRequestOfAResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		own         int
		settings    history.Settings
		heard       *commands.Heard
		issue, pull int
	}{
		"nothing":                 {0, history.Settings{}, nil, 0, 0},
		"a program on an issue":   {5, history.Settings{}, nil, 5, 0},
		"on record":               {5, history.Settings{Issue: 7, Pull: 8}, nil, 7, 8},
		"found just now":          {5, history.Settings{Issue: 7}, &commands.Heard{Issue: 9}, 9, 0},
		"not found just now":      {5, history.Settings{Issue: 7}, &commands.Heard{}, 7, 0},
		"the pull request ended":  {0, history.Settings{Pull: 8, PullEnded: 8}, nil, 0, 0},
		"an earlier one ended":    {0, history.Settings{Pull: 9, PullEnded: 8}, nil, 0, 9},
		"something that it found": {0, history.Settings{}, &commands.Heard{Issue: 3}, 3, 0},
	} {
		p := programWith("", "")
		p.Issue = c.own
		r, _ := inMemory(t, p)
		r.records.sum.Settings, r.comments = c.settings, c.heard
		var result Result
		r.detail(&result)
		assert.Equal(t, c.issue, result.Issue, name)
		assert.Equal(t, c.pull, result.PullRequest, name)
	}
}
