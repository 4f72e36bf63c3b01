package history_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history"
)

func TestStanding(t *testing.T) {
	t.Parallel()
	begin := func(iteration int) history.Event { return &history.Started{Head: history.Head{Iteration: iteration}} }
	end := func(iteration int) history.Event { return &history.Finished{Head: history.Head{Iteration: iteration}} }
	decided := func(iteration int, outcome history.Outcome, commit string) *history.Decided {
		return &history.Decided{Head: history.Head{Iteration: iteration}, Outcome: outcome, Commit: commit}
	}
	second := decided(2, history.PendingCI, "c")
	second.Proposal = 3 // the third of several candidates
	passed := *second
	passed.Outcome = history.Accepted
	accepted := &passed
	start, finish := begin(2), end(2)
	checked := &history.Checked{Head: history.Head{Iteration: 2}, Commit: "c", Signature: "build"}
	for _, c := range []struct {
		name      string
		events    []history.Event
		phase     history.Phase
		iteration int
		fixes     int
	}{
		{"no event", nil, history.PhaseNone, 0, 0},
		{"a baseline", []history.Event{&history.Measured{}}, history.PhaseNone, 0, 0},
		{"begun", []history.Event{begin(1)}, history.PhaseBegun, 1, 0},
		{"begun again after a crash", []history.Event{start, start}, history.PhaseBegun, 2, 0},
		{
			"ended without a decision",
			[]history.Event{decided(1, history.Accepted, "a"), start, finish},
			history.PhaseAccepted, 1, 0,
		},
		{"accepted", []history.Event{begin(1), decided(1, history.Accepted, "a"), end(1)}, history.PhaseAccepted, 1, 0},
		{"rejected", []history.Event{decided(1, history.Rejected, "")}, history.PhaseRejected, 1, 0},
		{"failed", []history.Event{decided(1, history.Error, "")}, history.PhaseFailed, 1, 0},
		{"waiting for CI", []history.Event{start, second, finish}, history.PhaseWaitingForCI, 2, 0},
		{"waiting in a later run", []history.Event{start, second, finish, begin(3)}, history.PhaseWaitingForCI, 2, 0},
		{
			"CI let one of several candidates through",
			[]history.Event{start, second, finish, accepted},
			history.PhaseAccepted, 2, 0,
		},
		{"a fix that failed", []history.Event{start, second, checked}, history.PhaseWaitingForCI, 2, 1},
		{
			"a fix that was pushed",
			[]history.Event{start, second, checked, decided(2, history.PendingCI, "d")},
			history.PhaseWaitingForCI, 2, 1,
		},
		{
			"CI turned it down for good",
			[]history.Event{second, checked, decided(2, history.CIFixExhausted, "")},
			history.PhaseRejected, 2, 1,
		},
		{
			"fixes of the iteration before do not count",
			[]history.Event{second, checked, accepted, decided(3, history.PendingCI, "e")},
			history.PhaseWaitingForCI, 3, 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := history.Replay(c.events).Standing
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
		return &history.Decided{Head: history.Head{Time: at, Iteration: 1}, Outcome: history.PendingCI, Commit: commit}
	}
	events := []history.Event{
		pending("a", pushed),
		&history.Pushed{Head: history.Head{Time: pushed}, Commit: "a"},
		&history.Checked{Head: history.Head{Iteration: 1}, Commit: "a", Signature: "build"},
	}
	s := history.Replay(events).Standing
	assert.False(t, s.FailedBefore("build"), "it is the same commit")
	assert.Equal(t, pushed, s.WaitsSince)

	later := pushed.Add(time.Hour)
	s = history.Replay(append(events, pending("b", later), pending("b", later.Add(time.Hour)))).Standing
	assert.True(t, s.FailedBefore("build"))
	assert.False(t, s.FailedBefore("test"))
	assert.Equal(t, later, s.WaitsSince, "the first record of the commit counts")
}
