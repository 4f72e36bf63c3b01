package evals

import (
	"encoding/json"
	"math/big"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
)

// CaseScore is what one case of an eval suite came to.
type CaseScore struct {
	ID string
	// Passed of Total expectations and checks of the suite. Both are 0 for a case
	// with nothing to check.
	Passed, Total int
	// Problem says why the case counts 0 as a whole: a crash, or a grading that
	// cannot be read; "" otherwise.
	Problem string
	// Failed are the expectations and checks that did not pass, with what was
	// seen; Unanswered those that the grading does not have, Extra what it has
	// beyond the suite.
	Failed     []Graded
	Unanswered []string
	Extra      []string
	// Gradings are those of its runs, as far as there are any.
	Gradings []Grading
	// Runs are the single runs of a score that Aggregate made; nil of one run.
	Runs []CaseScore
}

// Feedback is what the first grader that said something would improve in the suite.
func (s CaseScore) Feedback() json.RawMessage {
	for _, g := range s.Gradings {
		if len(g.Feedback) > 0 {
			return g.Feedback
		}
	}
	return nil
}

// Crashed is the score of a case without a grading.
func (c Case) Crashed(problem string) CaseScore {
	return CaseScore{ID: c.ID, Total: c.Total(), Problem: problem}
}

// Score counts the case's expectations and checks against a grading: one that
// the grading does not answer, or answers in two ways, has not passed.
func (c Case) Score(g Grading) CaseScore {
	scored := CaseScore{ID: c.ID, Total: c.Total(), Gradings: []Grading{g}}
	used := make([]bool, len(g.Expectations))
	for _, check := range c.Checks {
		grade(&scored, g, used, Deterministic, check.Label())
	}
	for _, text := range c.Expectations {
		grade(&scored, g, used, ByGrader, text)
	}
	for i, entry := range g.Expectations {
		if !used[i] {
			scored.Extra = append(scored.Extra, entry.Text)
		}
	}
	return scored
}

// grade counts one expectation or check.
func grade(s *CaseScore, g Grading, used []bool, source Source, text string) {
	found, passed := false, true
	failed := Graded{Text: text, Source: source, Evidence: "the grading does not answer it"}
	for i, entry := range g.Expectations {
		if entry.Text != text || entry.Source != source && entry.Source != "" {
			continue
		}
		found, used[i] = true, true
		if !entry.Passed {
			passed, failed.Evidence = false, entry.Evidence
		}
	}
	switch {
	case found && passed:
		s.Passed++
		return
	case !found:
		s.Unanswered = append(s.Unanswered, text)
	}
	s.Failed = append(s.Failed, failed)
}

// PassRate is passed/total as a fraction; 0 when the case counts 0.
func (s CaseScore) PassRate() *big.Rat {
	if s.Problem != "" || s.Total <= 0 {
		return new(big.Rat)
	}
	return big.NewRat(int64(s.Passed), int64(s.Total))
}

// Perfect reports whether everything passed.
func (s CaseScore) Perfect() bool { return s.PassRate().Cmp(big.NewRat(1, 1)) == 0 }

// MeanPassRate is the score of an iteration: the unweighted mean over all cases
// of the suite, summed in their order, or 0.
func MeanPassRate(cases []CaseScore) *big.Rat {
	rates := make([]*big.Rat, len(cases))
	for i, c := range cases {
		rates[i] = c.PassRate()
	}
	return metric.MeanOf(rates)
}

// CaseNumbers are the pass rates of cases as the numbers of a measurement.
func CaseNumbers(cases []CaseScore) map[string]metric.Value {
	numbers := map[string]metric.Value{}
	for _, c := range cases {
		numbers[decision.CaseNumber+c.ID] = RateValue(c.PassRate())
	}
	return numbers
}

// rateDigits are so many that two different scores of one suite keep apart.
const rateDigits = 12

// RateValue is a score as a decimal of twelve digits, rounded half away from
// zero: equal fractions give equal values.
func RateValue(rate *big.Rat) metric.Value {
	value, err := metric.ParseValue(rate.FloatString(rateDigits))
	if err != nil {
		return metric.Value{} // a fraction is always a number
	}
	return value
}
