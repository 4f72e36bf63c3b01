package history_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history"
)

func TestStanding(t *testing.T) {
	t.Parallel()
	event := func(kind history.Kind, iteration int) history.Event {
		return history.Event{Kind: kind, Iteration: iteration}
	}
	decided := func(iteration int, outcome history.Outcome, commit string) history.Event {
		return history.Event{Kind: history.Decided, Iteration: iteration, Outcome: outcome, Commit: commit}
	}
	second := decided(2, history.PendingCI, "c")
	second.Proposal = 3 // the third of several candidates
	accepted := second
	accepted.Outcome = history.Accepted
	start, finish := event(history.Started, 2), event(history.Finished, 2)
	checked := history.Event{Kind: history.Checked, Iteration: 2, Commit: "c", Reason: "build"}
	for _, c := range []struct {
		name      string
		events    []history.Event
		phase     history.Phase
		iteration int
		fixes     int
	}{
		{"no event", nil, history.PhaseNone, 0, 0},
		{"a baseline", []history.Event{event(history.Measured, 0)}, history.PhaseNone, 0, 0},
		{"begun", []history.Event{event(history.Started, 1)}, history.PhaseBegun, 1, 0},
		{"begun again after a crash", []history.Event{start, start}, history.PhaseBegun, 2, 0},
		{"ended without a decision", []history.Event{decided(1, history.Accepted, "a"), start, finish}, history.PhaseAccepted, 1, 0},
		{"accepted", []history.Event{event(history.Started, 1), decided(1, history.Accepted, "a"), event(history.Finished, 1)}, history.PhaseAccepted, 1, 0},
		{"rejected", []history.Event{decided(1, history.Rejected, "")}, history.PhaseRejected, 1, 0},
		{"failed", []history.Event{decided(1, history.Error, "")}, history.PhaseFailed, 1, 0},
		{"waiting for CI", []history.Event{start, second, finish}, history.PhaseWaitingForCI, 2, 0},
		{"waiting in a later run", []history.Event{start, second, finish, event(history.Started, 3)}, history.PhaseWaitingForCI, 2, 0},
		{"CI let one of several candidates through", []history.Event{start, second, finish, accepted}, history.PhaseAccepted, 2, 0},
		{"a fix that failed", []history.Event{start, second, checked}, history.PhaseWaitingForCI, 2, 1},
		{"a fix that was pushed", []history.Event{start, second, checked, decided(2, history.PendingCI, "d")}, history.PhaseWaitingForCI, 2, 1},
		{"CI turned it down for good", []history.Event{second, checked, decided(2, history.CIFixExhausted, "")}, history.PhaseRejected, 2, 1},
		{"fixes of the iteration before do not count", []history.Event{second, checked, accepted, decided(3, history.PendingCI, "e")}, history.PhaseWaitingForCI, 3, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := history.StandingOf(c.events)
			assert.Equal(t, c.phase, s.Phase)
			assert.Equal(t, c.iteration, s.Iteration)
			assert.Equal(t, c.fixes, s.Fixes())
			assert.Equal(t, c.phase == history.PhaseWaitingForCI, s.Waiting() != nil)
		})
	}
}

func TestStandingKnowsWhatCIFound(t *testing.T) {
	t.Parallel()
	pushed := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pending := func(commit string, at time.Time) history.Event {
		return history.Event{Kind: history.Decided, Time: at, Iteration: 1, Outcome: history.PendingCI, Commit: commit}
	}
	events := []history.Event{
		pending("a", pushed),
		{Kind: history.Pushed, Commit: "a", Time: pushed},
		{Kind: history.Checked, Iteration: 1, Commit: "a", Reason: "build"},
	}
	s := history.StandingOf(events)
	assert.False(t, s.FailedBefore("build"), "it is the same commit")
	assert.Equal(t, pushed, s.PushedAt)

	later := pushed.Add(time.Hour)
	s = history.StandingOf(append(events, pending("b", later), pending("b", later.Add(time.Hour))))
	assert.True(t, s.FailedBefore("build"))
	assert.False(t, s.FailedBefore("test"))
	assert.Equal(t, later, s.PushedAt, "the first record of the commit counts")
}
