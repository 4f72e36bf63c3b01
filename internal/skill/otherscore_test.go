package skill

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
)

// TestOtherScore: a report says whose number is which where gradings leave the suite
// unanswered and the table has another score.
func TestOtherScore(t *testing.T) {
	t.Parallel()
	found := evalrun.Result{Rate: big.NewRat(1, 4), Cases: []evals.CaseScore{
		{ID: "1", Passed: 1, Total: 2, Unanswered: []string{"short"}},
		{ID: "2", Total: 3, Problem: "there is no eval-2/grading.json"},
	}}
	rows := []results.Row{
		{Iteration: 0, Score: new(metric.MustValue("0.67"))},
		{Iteration: 1, Score: new(metric.MustValue("0.25"))},
	}
	notes := otherScore(found, rows, 0)
	require.Len(t, notes, 1)
	assert.Contains(t, notes[0], "results.tsv says 0.67 of v0, and the cases below come to 0.25")
	assert.Contains(t, notes[0], "4 expectations")
	assert.Empty(t, otherScore(found, rows, 1), "it is the same number")
	assert.Empty(t, otherScore(evalrun.Result{Rate: big.NewRat(1, 4), Cases: []evals.CaseScore{{ID: "1", Total: 1}}},
		rows, 0), "all of it is answered")
}
