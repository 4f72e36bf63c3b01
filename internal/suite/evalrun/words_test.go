package evalrun

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/tests/golden"
)

// TestProblemsOfAnEvaluation tells what is wrong with a skill from what fails in this
// program.
func TestProblemsOfAnEvaluation(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	limit := &NoResultError{What: suite.BudgetUsedUp, Reason: "all tokens were used"}
	silent := &NoResultError{What: suite.LoginRefused, Reason: "no login"}
	for name, c := range map[string]struct {
		ctx     context.Context
		err     error
		problem string
		over    bool
	}{
		"the skill": {
			t.Context(), fmt.Errorf("load: %w", misuse.Errorf("SKILL.md\nis gone")), "load: SKILL.md is gone", false,
		},
		"no answer":              {t.Context(), errors.Join(silent, nil), "no login", false},
		"the limit":              {t.Context(), limit, "all tokens were used", true},
		"our own":                {t.Context(), errors.New("the disk is full"), "", false},
		"the end of the run":     {ended, misuse.Errorf("interrupted while it was read"), "", false},
		"the end, and the limit": {ended, limit, "", true},
		"an end that is our own": {ended, context.Canceled, "", false},
	} {
		spent := &history.Expense{UnknownUSD: 1}
		outcome, err := (&Evaluator{}).problem(c.ctx, evaluation.Result{Expense: spent}, c.err)
		assert.Equal(t, c.problem, outcome.Problem, name)
		assert.Equal(t, c.over, outcome.OverLimit, name)
		assert.Same(t, spent, outcome.Expense, "%s: what was used is told", name)
		if c.problem != "" {
			c.err = nil
		}
		assert.Equal(t, c.err, err, name)
	}
}

// TestSuggestions has what graders, and programs of others, write as feedback.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	for feedback, want := range map[string]string{
		"":                                   "",
		"null":                               "",
		`"check more"`:                       "",
		`[]`:                                 "",
		`{}`:                                 "",
		`{"suggestions": [], "overall": ""}`: "",
		`{"suggestions": null, "overall": "good"}`:                                                     "good",
		`{"suggestions": ["a", "b"], "overall": "c"}`:                                                  "a|b|c",
		`{"suggestions": ["", " ", null, "a"]}`:                                                        "a",
		`{"suggestions": [{"assertion": "it is polite", "reason": "so"}]}`:                             "it is polite: so",
		`{"suggestions": [{"expectation": "polite", "suggestion": "say how", "reason": "vague"}]}`:     "polite: say how",
		`{"suggestions": [{"reason": "vague"}, {"assertion": "it is polite"}, {"else": 1}, 7, ["x"]]}`: "vague",
		`{"suggestions": [{"reason": 7}, "a"]}`:                                                        "a",
		"{\"suggestions\": [\"a\\nb\\u001b[2J\"]}":                                                     "a b",
		`{"suggestions": ["a"], "overall": "b", "later": {}}`:                                          "a|b",
	} {
		assert.Equal(t, want, strings.Join(suggestions([]byte(feedback)), "|"), feedback)
	}
	long := suggestions([]byte(`{"overall": "` + strings.Repeat("ä", 1000) + `"}`))
	require.Len(t, long, 1)
	assert.Equal(t, MaxWords, utf8.RuneCountInString(long[0]))
}

// TestFailuresAreBounded: whatever failed, what an improver is told is text of at most
// so many bytes.
func TestFailuresAreBounded(t *testing.T) {
	t.Parallel()
	var r Result
	for i := range 30 {
		r.Cases = append(r.Cases, suite.CaseScore{
			ID: fmt.Sprint(i), Passed: 1, Total: 2,
			Failed: []suite.Graded{{Text: strings.Repeat("ä", 300), Evidence: strings.Repeat("日", 300)}},
		})
	}
	whole := Failures(r, 1<<20)
	for most := 3; most < 500; most++ {
		text := Failures(r, most)
		require.LessOrEqual(t, len(text), most)
		require.True(t, utf8.ValidString(text))
		before, cut := strings.CutSuffix(text, "…")
		require.True(t, cut)
		require.True(t, strings.HasPrefix(whole, before))
	}
	assert.Equal(t, whole, Failures(r, len(whole)), "what fits is told whole")
}

func TestFailuresInWords(t *testing.T) {
	t.Parallel()
	feedback := []byte(`{"overall": "check more"}`)
	golden.Row(t, "", Failures(Result{Cases: []suite.CaseScore{
		{ID: "1", Passed: 2, Total: 2},
		{ID: "2", Total: 3, Problem: "it crashed", Failed: []suite.Graded{{Text: "of another run"}}},
		{ID: "3", Passed: 1, Total: 2, Failed: []suite.Graded{{Text: "it\ngreets", Evidence: "no greeting"}}},
		{ID: "4", Passed: 1, Total: 1, Feedback: feedback},
		{ID: "5", Passed: 1, Total: 1, Feedback: feedback},
	}}, 4000))
	assert.Empty(t, Failures(Result{}, 4000))
}
