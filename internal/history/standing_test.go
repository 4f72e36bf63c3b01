package history_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

func standing(events ...history.Event) history.Standing {
	return history.Replay(events).Standing
}

// TestWhatWasMeasuredLast is known of the candidates of one iteration: what their
// guardrails measured, and why they failed.
func TestWhatWasMeasuredLast(t *testing.T) {
	t.Parallel()
	measured := func(iteration, proposal int, rail string) *history.Measured {
		return &history.Measured{
			Head: history.Head{Iteration: iteration, Run: "r", Time: noon}, Proposal: proposal, Role: history.Candidate,
			Output: "printed", Numbers: map[string]metric.Value{"n": *value("1")},
			GuardrailSamples: map[string][]metric.Value{"size": {*value(rail)}},
		}
	}
	failed := measured(3, 2, "0")
	failed.Problem = "it broke"
	trial := measured(3, 1, "9")
	trial.Role = history.Incumbent
	decide := func(iteration, proposal int) history.Event {
		return &history.Decided{Head: history.Head{Iteration: iteration}, Proposal: proposal, Outcome: history.Rejected}
	}
	rail := func(m *history.Measured) string {
		if m == nil {
			return "none"
		}
		return m.GuardrailSamples["size"][0].String()
	}
	for name, c := range map[string]struct {
		events      []history.Event
		first, next string // of proposals 1 and 2 of iteration 3
		failed      string
	}{
		"nothing":                     {nil, "none", "none", ""},
		"one":                         {[]history.Event{measured(3, 1, "5")}, "5", "none", ""},
		"the last of it":              {[]history.Event{measured(3, 1, "5"), measured(3, 1, "6")}, "6", "none", ""},
		"two":                         {[]history.Event{measured(3, 1, "5"), measured(3, 2, "6")}, "5", "6", ""},
		"of another iteration":        {[]history.Event{measured(3, 1, "5"), measured(4, 1, "6")}, "none", "none", ""},
		"of another iteration before": {[]history.Event{measured(2, 1, "6"), measured(3, 1, "5")}, "5", "none", ""},
		"the incumbent":               {[]history.Event{measured(3, 1, "5"), trial}, "5", "none", ""},
		"the last failed":             {[]history.Event{measured(3, 1, "5"), failed}, "5", "0", "printed"},
		"an earlier one failed":       {[]history.Event{failed, measured(3, 1, "5")}, "5", "0", ""},
		"the last is decided on": {
			[]history.Event{measured(3, 1, "5"), measured(3, 2, "6"), decide(3, 2)},
			"5", "6", "",
		},
		"an earlier one is decided on": {
			[]history.Event{measured(3, 1, "5"), failed, decide(3, 1)},
			"5",
			"0", "printed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := standing(c.events...)
			assert.Equal(t, c.first, rail(s.Measured(3, 1)))
			assert.Equal(t, c.next, rail(s.Measured(3, 2)))
			assert.Equal(t, c.failed, s.Failed(3))
			assert.Empty(t, s.Failed(2))
		})
	}
	m := standing(failed).Measured(3, 2)
	require.NotNil(t, m)
	assert.Equal(t, []any{"it broke", "printed", 3, "r", noon}, []any{m.Problem, m.Output, m.Iteration, m.Run, m.Time})
}

// TestAStandingDoesNotChange when one goes on from it: two that go on differently know
// each their own.
func TestAStandingDoesNotChange(t *testing.T) {
	t.Parallel()
	candidate := func(proposal int) history.Event {
		return &history.Measured{Head: history.Head{Iteration: 1}, Role: history.Candidate, Proposal: proposal}
	}
	pending := &history.Decided{Head: history.Head{Iteration: 1}, Outcome: history.PendingCI, Commit: "a", Proposal: 1}
	check := func(commit, reason string) history.Event {
		return &history.Checked{Head: history.Head{Iteration: 1}, Commit: commit, Signature: reason}
	}
	begin := []history.Event{candidate(1), candidate(2), pending, check("z", "build")}
	before := standing(begin...)
	one := standing(append(begin[:4:4], check("z", "lint"), candidate(3))...)
	other := standing(append(begin[:4:4], check("z", "test"), check("z", "test"))...)
	assert.Equal(t, []int{1, 2, 3}, []int{before.Fixes(), one.Fixes(), other.Fixes()})
	assert.True(t, one.FailedBefore("lint"))
	assert.False(t, one.FailedBefore("test"))
	assert.True(t, other.FailedBefore("test"))
	assert.False(t, before.FailedBefore("lint"))
	assert.Nil(t, before.Measured(1, 3))
	assert.NotNil(t, one.Measured(1, 3))
	assert.NotNil(t, before.Measured(1, 1))
}

// TestPhasesInTheRecords of outcomes that a version knows, and of those that it does not.
func TestPhasesInTheRecords(t *testing.T) {
	t.Parallel()
	for outcome, phase := range map[history.Outcome]history.Phase{
		history.Accepted: history.PhaseAccepted, history.Rejected: history.PhaseRejected,
		history.Inconclusive: history.PhaseRejected, history.Error: history.PhaseFailed,
		history.PendingCI: history.PhaseWaitingForCI, history.CIFixExhausted: history.PhaseRejected,
		"of a later version": history.PhaseRejected, "": history.PhaseRejected,
	} {
		decided := &history.Decided{Head: history.Head{Iteration: 5, Time: noon}, Outcome: outcome, Commit: "c"}
		s := standing(decided)
		assert.Equal(t, []any{phase, 5, noon}, []any{s.Phase, s.Iteration, s.WaitsSince}, outcome)
		assert.Equal(t, outcome == history.PendingCI, s.Waiting() == decided)
		begun := standing(decided, &history.Started{Head: history.Head{Iteration: 6}})
		ended := standing(decided, &history.Started{Head: history.Head{Iteration: 6}},
			&history.Started{Head: history.Head{Iteration: 7}}, &history.Finished{})
		if outcome == history.PendingCI {
			assert.Equal(t, []any{phase, 5}, []any{begun.Phase, begun.Iteration}, "who only waits begins nothing")
			assert.Equal(t, []any{phase, 5}, []any{ended.Phase, ended.Iteration})
			continue
		}
		assert.Equal(t, []any{history.PhaseBegun, 6, decided}, []any{begun.Phase, begun.Iteration, begun.Decision})
		assert.Equal(t, []any{phase, 5}, []any{ended.Phase, ended.Iteration}, "it ended without a decision")
	}
}
