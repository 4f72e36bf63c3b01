package loop

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
)

// scattered evaluates to the number in value.txt and a noise that is the same in
// every tree, so that both sides of a trial have it alike.
type scattered struct{ runs map[string]int }

func (s scattered) Run(_ context.Context, request evaluation.Request) (evaluation.Result, error) {
	data, err := os.ReadFile(filepath.Join(request.Dir, "value.txt"))
	if err != nil {
		return evaluation.Result{}, err
	}
	noise := []int64{0, 10, 3, 7, 1, 9, 4, 6}
	value := metric.MustValue(strings.TrimSpace(string(data))).Add(
		metric.FromInt(noise[s.runs[request.Dir]%len(noise)]))
	s.runs[request.Dir]++
	return evaluation.Result{Measurement: metric.Measurement{
		Metric:  &value,
		Numbers: map[string]metric.Value{"m": value},
	}}, nil
}

// TestInconclusiveMayBeTriedAgain: a change that was neither a gain nor shown to
// be no gain is not called rejected, and is measured again when it is proposed
// again; one that was rejected is not.
func TestInconclusiveMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value   string
		outcome history.Outcome
		reason  string
		again   bool
	}{
		"better, and maybe by chance":   {"6", history.Inconclusive, "inconclusive: median ", true},
		"worse, and maybe by chance":    {"4", history.Rejected, "not better after 3 pairs", false},
		"worse for sure":                {"-90", history.Rejected, "not better after 3 pairs", false},
		"a gain that is not worth much": {"5.001", history.Rejected, "no gain worth keeping: median ", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			front := "evaluation-runs: 8\nplateau: 2"
			if c.value == "5.001" {
				front += "\nmin-improvement: 1000"
			}
			b := newBed(t, front, "5", c.value)
			evaluator := scattered{map[string]int{}}
			b.service.Eval = evaluator
			results, err := b.service.Run(t.Context(), 2)
			require.NoError(t, err)
			require.Len(t, results, 2)
			assert.Equal(t, c.outcome, results[0].Outcome, results[0].Reasons)
			assert.Contains(t, results[0].Reasons[0].String(), c.reason)
			if c.again {
				assert.Equal(t, c.outcome, results[1].Outcome, results[1].Reasons)
				assert.NotContains(t, results[1].Reasons[0].String(), "the same change")
			} else {
				assert.Contains(t, results[1].Reasons[0].String(),
					"the same change as iteration 1's, which was rejected")
			}
			assert.Contains(t, results[1].Stopped, "plateau: 2 ", "it counts for the plateau all the same")
			state := b.git("show", "memory/autoloop:p.md")
			assert.Contains(t, state, "| Recent Statuses | rejected, rejected |", "the format has one word for both")
			assert.Equal(t, c.again, strings.Contains(state, "❔ Inconclusive"))
			assert.Contains(t, linesOf(t, b.records().log), fmt.Sprintf(`"outcome":%q`, c.outcome))
		})
	}
}
