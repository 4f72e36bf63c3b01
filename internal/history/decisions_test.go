package history_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
)

func TestDecisions(t *testing.T) {
	t.Parallel()
	head := func(iteration int) history.Head { return history.Head{Iteration: iteration} }
	events := []history.Event{
		&history.Measured{Head: head(1), Role: history.Baseline, Seconds: 9},
		&history.Measured{Head: head(1), Role: history.Candidate, Seconds: 1},
		&history.Decided{Head: head(1)}, &history.Measured{Head: head(2), Role: history.Candidate, Seconds: 2},
		&history.Decided{Head: head(2)}, &history.Measured{Head: head(3), Role: history.Candidate, Seconds: 3},
		&history.Decided{Head: head(3), Outcome: history.PendingCI}, &history.Finished{Head: head(3)},
		&history.Decided{Head: head(3)}, &history.Decided{Head: head(4)},
	}
	for name, c := range map[string]struct {
		only     int
		calls    []string
		found    bool
		measured int
		seconds  float64
	}{
		"all":           {0, []string{"1: 1", "2: 2", "3: 3", "3: 3", "4: 0"}, false, 0, 0},
		"one":           {1, []string{"1: 1"}, true, 2, 1},
		"decided twice": {3, []string{"3: 3", "3: 3"}, true, 1, 3},
		"none":          {7, nil, false, 0, 0},
	} {
		var calls []string
		d := history.Decisions{Only: c.only, Each: func(e *history.Decided, seconds float64) error {
			calls = append(calls, fmt.Sprintf("%d: %g", e.Iteration, seconds))
			return nil
		}}
		require.NoError(t, d.Read(events))
		assert.Equal(t, c.calls, calls, name)
		assert.Equal(t, c.found, d.Found != nil, name)
		assert.Len(t, d.Measured, c.measured, name)
		assert.InDelta(t, c.seconds, d.Seconds, 0, name)
	}
}

func TestDecisionsEndAtAnError(t *testing.T) {
	t.Parallel()
	seen := 0
	d := history.Decisions{Each: func(e *history.Decided, _ float64) error {
		if seen++; e.Iteration == 2 {
			return assert.AnError
		}
		return nil
	}}
	var events []history.Event
	for n := 1; n < 5; n++ {
		events = append(events, &history.Decided{Head: history.Head{Iteration: n}})
	}
	require.ErrorIs(t, d.Read(events), assert.AnError)
	assert.Equal(t, 2, seen)
	assert.Nil(t, d.Found, "all are meant")
}
