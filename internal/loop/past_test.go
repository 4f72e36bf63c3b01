package loop

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/strategy"
)

// TestTheFocusOfALongHistory: which failing test comes next is what a list of all attempts
// under the definition says, whether they are known one by one or have been added up, also
// when a program goes back to an earlier definition.
func TestTheFocusOfALongHistory(t *testing.T) {
	t.Parallel()
	for name, definitions := range map[string]int{"one definition": 1, "two": 2, "definitions that come back": 6} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(20) {
				chance := rand.New(rand.NewPCG(seed, 3))
				var whole, folded history.Summary
				attempts := map[string][]string{} // by definition
				definition := "d0"
				for n := range 400 {
					if chance.IntN(12) == 0 {
						definition = fmt.Sprintf("d%d", chance.IntN(definitions))
					}
					output := ""
					for name := range 1 + chance.IntN(6) {
						output += fmt.Sprintf("--- FAIL: Test%d (0.00s)\n", (name*7+n/50)%9)
					}
					want := strategy.TestDriven{}.Focus(output, attempts[definition])
					require.Equal(t, want, strategy.TestDriven{}.Focus(output, whole.Focuses(definition)), "seed %d, attempt %d", seed, n)
					require.Equal(t, want, strategy.TestDriven{}.Focus(output, folded.Focuses(definition)), "folded, seed %d, attempt %d", seed, n)
					outcome := history.Rejected
					if chance.IntN(5) == 0 {
						outcome = history.Accepted
					}
					if chance.IntN(9) == 0 {
						want = "" // an attempt without one
					}
					attempts[definition] = append(attempts[definition], want)
					decided := &history.Decided{Head: history.Head{Iteration: n + 1}, Outcome: outcome, Definition: definition, Focus: want}
					whole.Add(decided)
					folded.Add(decided)
					if chance.IntN(10) == 0 {
						folded.Fold()
					}
				}
				folded.Fold()
				require.Less(t, len(folded.Attempts), 40)
			}
		})
	}
}
