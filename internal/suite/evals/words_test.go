package evals_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/tests/golden"
)

func TestTroubleSaysWhyACaseCounts0(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		score evals.CaseScore
	}{
		"none":    {evals.CaseScore{Passed: 1, Total: 1}},
		"a crash": {evals.CaseScore{Problem: "it crashed", Unanswered: []string{"x"}}},
		"some runs": {
			evals.CaseScore{Runs: []evals.CaseScore{{}, {Problem: "killed"}, {Problem: "other"}}},
		},
		"unanswered": {
			evals.CaseScore{Unanswered: []string{"is it short?"}},
		},
	} {
		golden.Row(t, name, c.score.Trouble())
	}
}

func TestLineOfACase(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "2 of 3 cases: a passed 1 of 4: why",
		evals.CaseScore{ID: "a", Passed: 1, Total: 4, Problem: "why"}.Line(2, 3))
}
