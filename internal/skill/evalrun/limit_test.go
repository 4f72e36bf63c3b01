package evalrun

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/skill/evals"
)

// TestWhatIsLeftOfALimit is what the next executor may use, and whether there is one.
func TestWhatIsLeftOfALimit(t *testing.T) {
	t.Parallel()
	usd := func(text string) *metric.Value {
		if text == "" {
			return nil
		}
		value := metric.MustValue(text)
		return &value
	}
	for name, c := range map[string]struct {
		tokens  int64 // the limit
		usd     string
		used    int64 // -1 is unknown
		paid    string
		left    int64
		leftUSD string
		over    string
	}{
		"no limit":              {0, "", 500, "5", 0, "", ""},
		"nothing used":          {100, "1", 0, "0", 100, "1", ""},
		"some used":             {100, "1", 60, "0.25", 40, "0.75", ""},
		"all tokens":            {100, "", 100, "", 1, "", "100 of 100 tokens were used with 2 of 3 cases begun"},
		"more tokens than that": {100, "", 150, "", 1, "", "150 of 100 tokens were used with 2 of 3 cases begun"},
		"all the money":         {0, "1", 5, "1.0", 0, "0.0001", "1 of 1 USD were used with 2 of 3 cases begun"},
		"nearly all the money":  {0, "1", 5, "0.99999", 0, "0.0001", ""},
		"unknown tokens":        {100, "1", -1, "", 100, "1", ""},
		"unknown money":         {0, "1", 500, "", 0, "1", ""},
		"a free model":          {0, "1", 500, "0", 0, "1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &session{Options: Options{Limit: agent.Limit{Tokens: c.tokens, CostUSD: usd(c.usd)}}, skill: &Skill{}}
			s.skill.Evals.Cases = make([]evals.Case, 3)
			if c.used >= 0 {
				s.spend(&c.used, usd(c.paid))
			} else {
				s.spend(nil, usd(c.paid))
			}
			left := s.left()
			assert.Equal(t, c.left, left.Tokens)
			if c.leftUSD == "" {
				assert.Nil(t, left.CostUSD)
			} else if assert.NotNil(t, left.CostUSD) {
				assert.Equal(t, c.leftUSD, left.CostUSD.String())
			}
			err := s.overLimit(2)
			if c.over == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.over)
			s.stopAt("a later reason")
			assert.Equal(t, err, s.overLimit(3), "the first reason stands")
		})
	}
}

func TestWhoNeedsAGrader(t *testing.T) {
	t.Parallel()
	suite := func(cases ...evals.Case) *Skill { return &Skill{Evals: evals.EvalSuite{Cases: cases}} }
	words, checks := evals.Case{ID: "b", Expectations: []string{"x"}}, evals.Case{ID: "a", Checks: []evals.Check{{Kind: evals.OutputExists}}}
	require.NoError(t, Options{}.Fit(suite(checks)))
	require.ErrorContains(t, Options{}.Fit(suite(checks, words)), "case b has expectations, which need a grader: none was chosen; choose one")
	require.ErrorContains(t, Options{NoGrader: "there is no key"}.Fit(suite(words)), "need a grader: there is no key; choose one")
	assert.False(t, suite(checks).Graded())
	assert.True(t, suite(checks, words).Graded())
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
		"the skill":              {t.Context(), fmt.Errorf("load: %w", misuse.Errorf("SKILL.md\nis gone")), "load: SKILL.md is gone", false},
		"no answer":              {t.Context(), errors.Join(&NoAnswerError{"no login"}, nil), "no login; nothing was decided by it: run the same command again when it answers, or choose another one", false},
		"the limit":              {t.Context(), &LimitError{"all tokens were used"}, "all tokens were used", true},
		"our own":                {t.Context(), errors.New("the disk is full"), "", false},
		"the end of the run":     {ended, misuse.Errorf("interrupted while it was read"), "", false},
		"the end, and the limit": {ended, &LimitError{"all tokens were used"}, "", true},
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
