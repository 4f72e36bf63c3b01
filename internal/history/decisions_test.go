package history_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
)

// TestDecisionsOfOneIteration: how long its last candidate took, what was measured for it, the baseline of its run
// among that, and how long it took until CI had its say.
func TestDecisionsOfOneIteration(t *testing.T) {
	t.Parallel()
	list := events(t, "started run_id=a iteration=1 minute=0 | measured run_id=a role=baseline seconds=9 |"+
		"measured run_id=b role=baseline | measured run_id=a stage=x | measured run_id=a stage=y |"+
		"measured run_id=a iteration=1 role=candidate seconds=1 | decided iteration=1 minute=2 |"+
		"measured iteration=3 role=candidate seconds=3 | decided iteration=3 outcome=pending-ci | "+
		"decided iteration=3 minute=9 | decided iteration=4 | set key=undone value=\"3\"")
	for name, c := range map[string]struct {
		only           int
		calls          string
		measured, took int
		seconds        float64
	}{
		"all":           {0, "[1: 1 3: 3 3: 3 4: 0]", 0, 0, 0},
		"one":           {1, "[1: 1]", 2, 2, 1},
		"decided twice": {3, "[3: 3 3: 3]", 1, 0, 3},
		"none":          {7, "[]", 0, 0, 0},
	} {
		var calls []string
		d := history.Decisions{Only: c.only, Each: func(e *history.Decided, seconds float64) error {
			calls = append(calls, fmt.Sprintf("%d: %g", e.Iteration, seconds))
			return nil
		}}
		require.NoError(t, d.Read(list))
		assert.Equal(t, c.calls, fmt.Sprint(calls), name)
		assert.Equal(t, c.measured > 0, d.Found != nil, name)
		assert.Equal(t, []int{c.measured, c.took}, []int{len(d.Measured), int(d.Took.Minutes())}, name)
		assert.InDelta(t, c.seconds, d.Seconds, 0, name)
		assert.NotNil(t, d.Undone[3])
	}
	seen := 0
	d := history.Decisions{Each: func(*history.Decided, float64) error {
		seen++
		return assert.AnError
	}}
	require.ErrorIs(t, d.Read(list), assert.AnError)
	assert.Equal(t, 1, seen)
}
