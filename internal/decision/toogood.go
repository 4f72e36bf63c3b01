package decision

import (
	"cmp"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

const (
	// outOfProportion is how many times a number must exceed the one before, or a
	// gain the largest one before, to be too good to be believed at once.
	outOfProportion = 10
	// enoughGains is how many gains make a history to compare with.
	enoughGains = 3
	// enoughEqual is how many equal numbers beside numbers that scatter are odd.
	enoughEqual = 8
	// heldRuns is how often the emptied files are measured where the candidate's
	// numbers scatter.
	heldRuns = 3
)

// tooGood says why a gain is more often a fault of the evaluation than a success,
// nil when it is not. A suite's rates, whose evaluation is ours, may begin with 0.
func (s Standard) tooGood(key metric.Value, previous *metric.Value) *Reason {
	if previous == nil {
		return nil
	}
	small, large := key.Abs(), previous.Abs()
	if small.Cmp(large) > 0 {
		small, large = large, small
	}
	times := metric.FromInt(outOfProportion)
	switch {
	case s.CheckTooGood && key.Sign() == 0:
		return &Reason{Kind: DropToZero, Beside: previous}
	case s.CheckTooGood && previous.Sign() == 0:
		return &Reason{Kind: RiseFromZero, Value: &key, Count: outOfProportion}
	case small.Sign() > 0 && large.Cmp(small.Mul(times)) > 0:
		return &Reason{Kind: Jump, Value: &key, Beside: previous, Count: outOfProportion}
	}
	if len(s.Gains) < enoughGains {
		return nil
	}
	gain, largest := key.Sub(*previous).Abs(), slices.MaxFunc(s.Gains, metric.Value.Cmp)
	if gain.Cmp(largest.Mul(times)) > 0 {
		return &Reason{Kind: OutlyingGain, Value: &gain, Beside: &largest, Count: outOfProportion}
	}
	return nil
}

// hold keeps an improvement back that is too good to be believed at once, and
// reports whether it did: the incumbent with the files emptied that the candidate
// changed is measured first.
func (t *Trial) hold(d Decision) bool {
	if d.Verdict != Improved || !t.standard.CheckTooGood || d.Warning == nil {
		return false
	}
	d.Held = &d.Warning[0].Because[0]
	t.held = &d
	return true
}

// Held says why the gain is held, nil when it is not.
func (t *Trial) Held() *Reason {
	if t.held == nil {
		return nil
	}
	return t.held.Held
}

// LeavesNothing notes that the candidate left nothing in the files that it changed.
func (t *Trial) LeavesNothing() { t.standard.LeavesNothing = true }

// nextHeld is the next run of a gain that is held.
func (t *Trial) nextHeld() Step {
	of := 1
	if low, high := t.spread(); low.Cmp(high) != 0 {
		of = heldRuns
	}
	if done := len(t.parts[Held].of(Emptied)); done < of {
		return Step{Stage: Held, Side: Emptied, Number: done + 1, Of: of}
	}
	return Step{Stage: Held, Side: Garbled, Number: 1, Of: 1}
}

// addHeld takes what the evaluation gave without the candidate's work. A number
// that does not depend on it measures nothing. That emptied files give the
// candidate's number is so with every count of faults too; there the evaluation
// must notice at least that the files are broken. Where the numbers scatter they
// measure time or memory, and files that do nothing are no reference for those.
func (t *Trial) addHeld(step Step, m metric.Measurement) {
	held, notices, ignores := *t.held, NoticesEmptied, IgnoresEmptied
	if step.Side == Garbled {
		notices, ignores = NoticesGarbled, IgnoresGarbled
	}
	p := t.parts[Held]
	p.order, p.taken = append(p.order, step.Side), append(p.taken, m)
	noticed := t.standard.Unfit(m)
	if noticed == nil && step.Number < step.Of {
		return
	}
	low, high := t.spread()
	var middle metric.Value
	if noticed == nil {
		runs, apart := p.of(step.Side), high.Sub(low)
		middle = statistics.Median(metrics(runs))
		noticed = t.standard.breach(runs)
		if noticed == nil && (middle.Cmp(low.Sub(apart)) < 0 || middle.Cmp(high.Add(apart)) > 0) {
			noticed = &Reason{Kind: Gives, Value: &middle}
		}
	}
	switch {
	case noticed != nil:
		held.Warning = []Reason{*held.Held, notices.Because(*noticed), {Kind: LookAtIt}}
		t.flagEqual(&held)
		t.decision = &held
	case step.Side == Emptied && low.Cmp(high) == 0 && !t.standard.LeavesNothing:
		// The garbled files decide.
	default:
		d := t.standard.decision(Regressed, held.Metric, held.Previous,
			Reason{Kind: ignores, Value: &middle}, HeldBack.Because(*held.Held))
		d.Held, d.Evidence = held.Held, held.Evidence
		t.decision = &d
	}
}

// flagEqual flags an improvement whose numbers never scatter where the incumbent's do:
// they may be made up.
func (t *Trial) flagEqual(d *Decision) {
	of := func(side Side) []metric.Value {
		return metrics(append(t.parts[Pairs].of(side), t.parts[Confirmation].of(side)...))
	}
	candidate := of(Candidate)
	if d.Verdict != Improved || len(candidate) < enoughEqual || !statistics.Same(candidate) ||
		statistics.Same(of(Incumbent)) {
		return
	}
	d.Warning = append(slices.Clip(d.Warning),
		Reason{Kind: NumbersNeverDiffer, Count: len(candidate), Value: &candidate[0]})
}

// spread is the least and the greatest number of the candidate in the stage that
// decided.
func (t *Trial) spread() (low, high metric.Value) {
	samples := metrics(t.parts[t.stage].of(Candidate))
	return slices.MinFunc(samples, metric.Value.Cmp), slices.MaxFunc(samples, metric.Value.Cmp)
}

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
	lost := CasesLost.Says(list(d.Lost))
	if !t.standard.NoCaseRegression {
		d.Reasons = append(d.Reasons, lost)
		return
	}
	lost.Kind = CasesForbidden
	d.Verdict, d.Best = Regressed, t.standard.Best
	d.Reasons = append([]Reason{lost}, d.Reasons...)
}

func rates(measured []metric.Measurement) CaseRates {
	return RatesOf(lists.Map(measured, func(m metric.Measurement) map[string]metric.Value { return m.Numbers })...)
}

// list names so many cases, whose names are an evaluation's, in one line.
func list(cases []string) string {
	const most, longest = 20, 60
	return plain.Joined(cases, most, func(name string) string { return plain.Short(name, longest) })
}
