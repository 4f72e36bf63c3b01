package loop

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/strategy"
)

// TestTheFocusOfALongHistory: which failing test comes next is the same, whether all
// earlier attempts are known one by one or have been added up.
func TestTheFocusOfALongHistory(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		chance := rand.New(rand.NewPCG(seed, 3))
		var whole, folded history.Summary
		for n := range 400 {
			output := ""
			for name := range 1 + chance.IntN(6) {
				output += fmt.Sprintf("--- FAIL: Test%d (0.00s)\n", (name*7+n/50)%9)
			}
			want := strategy.TestDriven{}.Focus(output, whole.Focuses("d"))
			require.Equal(t, want, strategy.TestDriven{}.Focus(output, folded.Focuses("d")), "seed %d, attempt %d", seed, n)
			outcome := history.Rejected
			if chance.IntN(5) == 0 {
				outcome = history.Accepted
			}
			if chance.IntN(9) == 0 {
				want = "" // an attempt without one
			}
			decided := &history.Decided{Head: history.Head{Iteration: n + 1}, Outcome: outcome, Definition: "d", Focus: want}
			whole.Add(decided)
			folded.Add(decided)
			if chance.IntN(10) == 0 {
				folded.Fold()
			}
		}
		folded.Fold()
		require.Less(t, len(folded.Attempts), 40)
	}
}
