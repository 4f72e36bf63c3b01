package decision

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// Guardrail is a second metric that must not get worse than at iteration 0 by
// more than MaxRegression.
type Guardrail struct {
	// Metric is the key of the number.
	Metric string `json:"metric"`
	// Direction says which number is better: `higher` or `lower`.
	Direction metric.Direction `json:"direction"`
	// MaxRegression is how much worse it may be than at the start.
	MaxRegression Allowance `json:"max_regression"`
}

// breach returns why the samples of the candidate break a guardrail, nil when they do not.
// Every guardrail needs a number from each measurement of the candidate. It compares with
// iteration 0: the median beyond the allowance and, when noisy, the samples different from
// iteration 0's shifted by the allowance. Where there are too few samples for the confidence
// the median alone decides.
func (s Standard) breach(measured []metric.Measurement) *Reason {
	for _, g := range s.Guardrails {
		var samples, bounds []metric.Value
		for _, m := range measured {
			if value, printed := m.Numbers[g.Metric]; printed {
				samples = append(samples, value)
			}
		}
		initial := s.Initial[g.Metric]
		switch {
		case len(samples) == 0, len(samples) < len(measured):
			return &Reason{Kind: GuardrailMissing, Path: g.Metric}
		case len(initial) == 0:
			return &Reason{Kind: GuardrailNew, Path: g.Metric}
		}
		before, now := statistics.Median(initial), statistics.Median(samples)
		allowance := g.MaxRegression.Of(before)
		for _, value := range initial {
			bounds = append(bounds, g.shifted(value, allowance))
		}
		limit := g.shifted(before, allowance)
		chance := s.Regime == Noisy && statistics.Reachable(len(initial), len(samples), s.Confidence) &&
			statistics.P(bounds, samples) >= 1-s.Confidence
		if g.Direction.Better(limit, now) && !chance {
			return &Reason{
				Kind: GuardrailBroken, Path: g.Metric, Term: g.Direction.String(), Value: &now, Beside: &before,
				High: &limit, Low: &allowance,
			}
		}
	}
	return nil
}

// shifted is a value made worse by the allowance.
func (g Guardrail) shifted(value, allowance metric.Value) metric.Value {
	if g.Direction.Better(value, value.Add(allowance)) {
		return value.Add(allowance)
	}
	return value.Sub(allowance)
}

// CaseNumber begins the names of the numbers that are pass rates of single
// cases: `case.<id>`.
const CaseNumber = "case."

// lossChance is the chance of a false alarm that a comparison of all cases may
// have, one-sided.
const lossChance = 0.025

// CaseRates are pass rates of cases, by the name of their number: one for each
// run, in the order of the runs.
type CaseRates map[string][]metric.Value

// RatesOf picks the cases out of what runs of one side printed. A run that does
// not say a case's rate counts 0 for it.
func RatesOf(runs ...map[string]metric.Value) CaseRates {
	rates := CaseRates{}
	for i, numbers := range runs {
		for name, rate := range numbers {
			if !strings.HasPrefix(name, CaseNumber) {
				continue
			}
			if rates[name] == nil {
				rates[name] = make([]metric.Value, len(runs))
			}
			rates[name][i] = rate
		}
	}
	return rates
}

// LostCases lists the cases that passed whole before, in most of the runs, and
// regressed: the best run now is below the worst run then, or most runs are not
// whole any more and the rates are lower by more than chance (one-sided
// Mann–Whitney, .025 over all cases). No single run of many decides; of one run
// on each side, a case is lost when it is not whole any more. A case that was
// not measured now is lost too.
func LostCases(before, now CaseRates) []string {
	var lost []string
	for name, then := range before {
		if whole(then) && lower(then, now[name], len(before)) {
			lost = append(lost, strings.TrimPrefix(name, CaseNumber))
		}
	}
	slices.SortFunc(lost, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return lost
}

// whole reports whether a case passed whole in more than half of the runs.
func whole(rates []metric.Value) bool {
	count := 0
	for _, rate := range rates {
		if rate.Cmp(metric.FromInt(1)) >= 0 {
			count++
		}
	}
	return 2*count > len(rates)
}

// lower reports whether a case of so many regressed.
func lower(then, now []metric.Value, cases int) bool {
	switch {
	case len(now) == 0, slices.MaxFunc(now, metric.Value.Cmp).Cmp(slices.MinFunc(then, metric.Value.Cmp)) < 0:
		return true
	case whole(now), statistics.Median(now).Cmp(statistics.Median(then)) >= 0:
		return false
	}
	return statistics.P(then, now)/2 <= lossChance/float64(cases)
}

// holdCases says of an improvement which cases it lost, and turns it down where
// the rule forbids that. The cases of the last stage count, the incumbent's
// recorded ones when it was not run again.
func (t *Trial) holdCases(d *Decision) {
	before := t.standard.Cases
	if beside := t.parts[t.stage].of(Incumbent); len(beside) > 0 {
		before = rates(beside)
	}
	d.Lost = LostCases(before, rates(t.parts[t.stage].of(Candidate)))
	if len(d.Lost) == 0 {
		return
	}
	lost := Reason{Kind: CasesLost, Words: list(d.Lost)}
	if !t.standard.NoCaseRegression {
		d.Reasons = append(d.Reasons, lost)
		return
	}
	lost.Kind = CasesForbidden
	d.Verdict, d.Best = Regressed, t.standard.Best
	d.Reasons = append([]Reason{lost}, d.Reasons...)
}

func rates(measured []metric.Measurement) CaseRates {
	runs := make([]map[string]metric.Value, len(measured))
	for i, m := range measured {
		runs[i] = m.Numbers
	}
	return RatesOf(runs...)
}

// list names so many cases, whose names are an evaluation's, in one line.
func list(cases []string) string {
	const most, longest = 20, 60
	var names []string
	for _, name := range cases[:min(len(cases), most)] {
		names = append(names, plain.Short(name, longest))
	}
	text := strings.Join(names, ", ")
	if more := len(cases) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
