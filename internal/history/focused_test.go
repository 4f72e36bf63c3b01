package history

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFocusesOfASealedLedger seals ledgers of programs that change their definitions and go
// back to earlier ones: on which tests was worked is the same as when nothing is sealed,
// and what is known of it stays short.
func TestFocusesOfASealedLedger(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                     string
		definitions, tests, stay int // a definition stays for about so many iterations
	}{
		{"one definition", 1, 20, 1},
		{"back and forth", 2, 20, 40},
		{"six definitions", 6, 20, 15},
		{"a new one for each iteration", 2000, 20, 1},
		{"more tests than are counted", 3, 900, 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(3) {
				g := inventedRuns(seed)
				definition, focus := "d0", ""
				var whole Summary
				counts := map[string]map[string]int{} // by definition and test
				sealed := &Checkpoint{}
				var segment []byte
				for n := 1; n <= 700; n++ {
					if g.IntN(c.stay) == 0 {
						definition = fmt.Sprintf("d%d", g.IntN(c.definitions))
					}
					if g.IntN(3) == 0 {
						focus = fmt.Sprintf("test %d", g.IntN(c.tests))
					}
					if g.IntN(20) == 0 {
						focus = "" // no test failed
					}
					e := &Decided{Head: Head{Schema: 1, Iteration: n}, Outcome: []Outcome{Accepted, Rejected}[g.IntN(2)], Definition: definition, Focus: focus}
					whole.Add(e)
					if counts[definition] == nil {
						counts[definition] = map[string]int{}
					}
					counts[definition][focus]++
					line, err := Line(e)
					require.NoError(t, err)
					segment = append(segment, line...)
					if g.IntN(40) == 0 {
						if sealed.Segments > 0 {
							segment = append(sealed.head().line(), segment...)
						}
						sealed, err = sealed.Extend(segment)
						require.NoError(t, err)
						segment = nil
					}
					if n%50 != 0 {
						continue
					}
					got := sealed.Summary()
					log, err := Parse(segment)
					require.NoError(t, err)
					for _, e := range log.Events {
						got.Add(e)
					}
					for _, d := range []string{definition, "d0", "d1", "d2"} {
						require.Equal(t, whole.Focuses(d), got.Focuses(d), "seed %d, iteration %d, %s", seed, n, d)
						if c.definitions*c.tests > keptFocuses {
							continue
						}
						known := map[string]int{}
						for _, name := range got.Focuses(d) {
							known[name]++
						}
						delete(known, "") // those before the first that had a test are not counted
						all := counts[d]
						for name, n := range all {
							if name != "" {
								require.Equal(t, n, known[name], "seed %d, iteration %d, %s, %s", seed, n, d, name)
							}
						}
					}
				}
				text, err := json.Marshal(sealed.summary.Earlier.Focus)
				require.NoError(t, err)
				assert.Less(t, len(text), 100*keptFocuses)
				require.NotNil(t, sealed.summary.Earlier.Focus)
			}
		})
	}
}
