package evalrun

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/internal/suite/work"
)

func TestSuitesThatNeedGrader(t *testing.T) {
	t.Parallel()
	of := func(cases ...evals.Case) *Skill { return &Skill{Evals: evals.EvalSuite{Cases: cases}} }
	words, checks := evals.Case{ID: "b", Expectations: []string{"x"}},
		evals.Case{ID: "a", Checks: []evals.Check{{Kind: evals.OutputExists}}}
	require.NoError(t, Options{}.Fit(of(checks)))
	require.ErrorContains(t, Options{}.Fit(of(checks, words)),
		"expectations, which need a grader: none")
	require.ErrorContains(t, Options{Runner: work.Runner{NoGrader: "there is no key"}}.Fit(of(words)),
		"need a grader: there is no key; choose")
	assert.False(t, of(checks).Graded())
	assert.True(t, of(checks, words).Graded())
}

// TestProblemsOfAnEvaluation tells what is wrong with a skill from what fails in this
// program.
func TestProblemsOfAnEvaluation(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx     context.Context
		err     error
		problem string
		over    bool
	}{
		"the skill": {
			t.Context(), fmt.Errorf("load: %w", misuse.Errorf("SKILL.md\nis gone")),
			"load: SKILL.md is gone", false,
		},
		"no answer": {
			t.Context(), errors.Join(&work.NoResultError{What: suite.LoginRefused, Reason: "no login"}, nil), "no login",
			false,
		},
		"the limit":              {t.Context(), &work.NoResultError{What: suite.BudgetUsedUp, Reason: "all tokens were used"}, "all tokens were used", true},
		"our own":                {t.Context(), errors.New("the disk is full"), "", false},
		"the end of the run":     {ended, misuse.Errorf("interrupted while it was read"), "", false},
		"the end, and the limit": {ended, &work.NoResultError{What: suite.BudgetUsedUp, Reason: "all tokens were used"}, "", true},
		"an end that is our own": {ended, context.Canceled, "", false},
	} {
		spent := &history.Expense{UnknownUSD: 1}
		outcome, err := (&Evaluator{}).problem(c.ctx, evaluation.Result{Expense: spent}, c.err)
		assert.Equal(t, c.problem, outcome.Problem, name)
		assert.Equal(t, c.over, outcome.OverLimit, name)
		assert.Same(t, spent, outcome.Expense, "%s: what was used is told", name)
		if c.problem == "" {
			assert.Equal(t, c.err, err, name)
		} else {
			require.NoError(t, err, name)
		}
	}
}
