package loop

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history"
)

// TestRowsOfTuner: of a long past the latest, and an even number before them.
func TestRowsOfTuner(t *testing.T) {
	t.Parallel()
	for iterations, want := range map[int][2]int{
		0: {0, 0}, mostTrials: {mostTrials, 0},
		mostTrials + 1: {mostTrials + 1, 0}, mostTrials + 2: {mostTrials, 2},
		2*mostTrials + 1: {mostTrials + 1, mostTrials},
	} {
		b := &records{}
		for n := 1; n <= iterations; n++ {
			b.sum.Attempts = append(b.sum.Attempts, history.Attempt{Iteration: n})
			b.sum.Proposals = append(b.sum.Proposals, &history.Proposed{Head: history.Head{Iteration: n}})
		}
		past, earlier := b.trials()
		assert.Equal(t, want, [2]int{len(past.Attempts), earlier})
		assert.Len(t, past.Proposals, len(past.Attempts))
		assert.Len(t, b.sum.Proposals, iterations, "the records stay")
	}
}
