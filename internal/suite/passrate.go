package suite

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
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
	// seen; Unanswered those that the grading does not have.
	Failed     []Graded
	Unanswered []string
	// Feedback is what the first grader that said something would improve in the suite.
	Feedback json.RawMessage
}

// Crashed is the score of a case without a grading.
func (c Case) Crashed(problem string) CaseScore {
	return CaseScore{ID: c.ID, Total: c.Total(), Problem: problem}
}

// Score counts the case's expectations and checks against a grading: one that
// the grading does not answer, or answers in two ways, has not passed.
func (c Case) Score(g Grading) CaseScore {
	scored := CaseScore{ID: c.ID, Total: c.Total(), Feedback: g.Feedback}
	for _, wanted := range c.wanted() {
		answered, found := g.answer(wanted)
		switch {
		case found.Passed:
			scored.Passed++
			continue
		case !answered:
			scored.Unanswered = append(scored.Unanswered, found.Text)
		}
		scored.Failed = append(scored.Failed, found)
	}
	return scored
}

// wanted is all that a case is graded by, as it is named in gradings.
func (c Case) wanted() (list []Graded) {
	for _, check := range c.Checks {
		list = append(list, Graded{Text: check.Label(), Source: Deterministic})
	}
	for _, text := range c.Expectations {
		list = append(list, Graded{Text: text, Source: ByGrader})
	}
	return list
}

// answer is what the grading says of one of these.
func (g Grading) answer(wanted Graded) (answered bool, found Graded) {
	found = wanted
	found.Evidence = "the grading does not answer it"
	for _, entry := range g.Expectations {
		if entry.Text != wanted.Text || entry.Source != wanted.Source && entry.Source != "" {
			continue
		}
		found.Passed = entry.Passed && (found.Passed || !answered)
		if answered = true; !entry.Passed {
			found.Evidence = entry.Evidence
		}
	}
	return answered, found
}

// PassRate is passed/total; 0 when the case counts 0.
func (s CaseScore) PassRate() metric.Value { return RateValue(s.rate()) }

func (s CaseScore) rate() *big.Rat {
	if s.Problem != "" || s.Total <= 0 {
		return new(big.Rat)
	}
	return big.NewRat(int64(s.Passed), int64(s.Total))
}

// MeanPassRate is the score of an iteration: the unweighted mean over all cases
// of the suite, or 0.
func MeanPassRate(cases []CaseScore) metric.Value {
	return RateValue(metric.MeanOf(lists.Map(cases, CaseScore.rate)))
}

// CaseNumbers are the pass rates of cases as the numbers of a measurement.
func CaseNumbers(cases []CaseScore) map[string]metric.Value {
	numbers := map[string]metric.Value{}
	for _, c := range cases {
		numbers[decision.CaseNumber+c.ID] = c.PassRate()
	}
	return numbers
}

// rateDigits are so many that two different scores of one suite keep apart.
const rateDigits = 12

// RateValue is a score as a decimal of twelve digits, rounded half away from
// zero: equal fractions give equal values.
func RateValue(rate *big.Rat) metric.Value { return metric.MustValue(rate.FloatString(rateDigits)) }

// Aggregate puts several runs of the cases of one suite, in its order, into one
// score for each case: passed and total are sums over the runs, so that the pass
// rate is their mean, and what failed in some runs says in how many. A case
// counts 0 as a whole only where it did in every run. One run stays as it is.
func Aggregate(runs ...[]CaseScore) (all []CaseScore) {
	if len(runs) == 1 {
		return runs[0]
	}
	for i := 0; len(runs) > 0 && i < len(runs[0]); i++ {
		all = append(all, aggregateCase(runs, i))
	}
	return all
}

// aggregateCase puts the runs of one case into one. What failed is told with how often,
// and with what was seen first.
func aggregateCase(runs [][]CaseScore, i int) CaseScore {
	sum := CaseScore{ID: runs[0][i].ID}
	times := map[Graded]int{} // of each failure, whatever was seen
	broken := 0
	for _, cases := range runs {
		run := cases[i]
		sum.Total += run.Total
		if sum.Feedback == nil {
			sum.Feedback = run.Feedback
		}
		if run.Problem != "" {
			broken++
			run = CaseScore{Failed: []Graded{{Text: "the whole case", Evidence: run.Problem}}}
		}
		sum.Passed += run.Passed
		for _, g := range run.Failed {
			key := Graded{Text: g.Text, Source: g.Source}
			if times[key]++; times[key] == 1 {
				sum.Failed = append(sum.Failed, g)
			}
		}
		for _, text := range run.Unanswered {
			if !slices.Contains(sum.Unanswered, text) {
				sum.Unanswered = append(sum.Unanswered, text)
			}
		}
	}
	if broken == len(runs) {
		sum.Failed, sum.Problem = nil, fmt.Sprintf("in all %d runs: %s", broken, runs[0][i].Problem)
	}
	for i, g := range sum.Failed {
		sum.Failed[i].Evidence = fmt.Sprintf("in %d of %d runs: %s", times[Graded{Text: g.Text, Source: g.Source}],
			len(runs), g.Evidence)
	}
	return sum
}

// How many bytes of a text of unknown origin are shown on a line.
const (
	lineWidth    = 100
	problemWidth = 300
)

// Line says what a case came to.
func (c CaseScore) Line(done, total int) string {
	text := fmt.Sprintf("%d of %d cases: %s passed %d of %d", done, total, c.ID, c.Passed, c.Total)
	if c.Problem != "" {
		text += ": " + plain.Short(c.Problem, problemWidth)
	}
	return text
}

// Trouble says why a case counts 0, in all runs or in some, and what its gradings
// leave open.
func (c CaseScore) Trouble() string {
	if c.Problem != "" {
		return c.Problem
	}
	for _, failed := range c.Failed {
		if failed.Source == "" { // the whole case, in some runs
			return failed.Evidence
		}
	}
	var open []string
	for _, text := range c.Unanswered {
		open = append(open, plain.Short(text, lineWidth))
	}
	if len(open) > 0 {
		return "the grading does not answer " + plain.List(open, plain.Few)
	}
	return ""
}
