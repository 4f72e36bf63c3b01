package decision

import (
	"math"
	"slices"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

// Stage is a part of a trial. Its trees are built anew.
type Stage string

// The stages, in the order in which a trial can go through them.
const (
	Once         Stage = "once"         // the candidate, one time
	Again        Stage = "again"        // both sides once more, since there seems to be a gain
	Pairs        Stage = "pairs"        // pairs of both sides, alternating
	Confirmation Stage = "confirmation" // as many pairs again, in exchanged trees
	Held         Stage = "held"         // a gain that is too good: the number without the candidate's work
)

// Side is one of the trees that are compared.
type Side string

// The sides. Emptied and Garbled are the incumbent with the files that the candidate
// changed emptied, or with a syntax error in them: a gain that is held is measured
// there.
const (
	Incumbent Side = "incumbent"
	Candidate Side = "candidate"
	Emptied   Side = "emptied"
	Garbled   Side = "garbled"
)

func (s Side) other() Side {
	if s == Incumbent {
		return Candidate
	}
	return Incumbent
}

// Step is one run of the evaluation that a trial asks for.
type Step struct {
	Stage Stage
	Side  Side
	// WarmUp says that the number will not count.
	WarmUp bool
	// Number counts the runs of this side in this stage from 1, of Of.
	Number, Of int
}

// earlyLook is after how many pairs a comparison without a better median ends.
const earlyLook = 3

// Trial decides about one candidate, one run of the evaluation at a time. It is
// a pure function of the standard and of the measurements, so that a decision
// can be repeated from the record.
type Trial struct {
	standard Standard
	stage    Stage     // of the last run, but for Held
	held     *Decision // an improvement that is too good, or nil
	taken    map[Stage]map[Side][]metric.Measurement
	warm     map[Stage]map[Side]bool
	looked   map[Stage]bool // that the early look was taken
	pairs    map[Stage]int  // that a stage has, so far
	orders   map[Stage][]Side
	evidence []Evidence
	decision *Decision
}

// NewTrial begins a trial against a standard.
func NewTrial(standard Standard) *Trial {
	t := &Trial{
		pairs: map[Stage]int{Pairs: standard.Pairs, Confirmation: standard.Pairs}, standard: standard,
		taken: map[Stage]map[Side][]metric.Measurement{},
		warm:  map[Stage]map[Side]bool{}, looked: map[Stage]bool{}, orders: map[Stage][]Side{},
	}
	for _, stage := range []Stage{Once, Again, Pairs, Confirmation, Held} {
		t.taken[stage], t.warm[stage] = map[Side][]metric.Measurement{}, map[Side]bool{}
	}
	return t
}

// Run takes the trial to its decision. measure runs the evaluation as a step
// asks; its error ends the trial without a decision.
func (t *Trial) Run(measure func(Step) (metric.Measurement, error)) (Decision, error) {
	for step, more := t.Next(); more; step, more = t.Next() {
		m, err := measure(step)
		if err != nil {
			return Decision{}, err
		}
		t.Add(step, m)
	}
	return t.Decision(), nil
}

// Regime is the standard's, or Noisy from when two equal runs gave two numbers.
func (t *Trial) Regime() Regime { return t.standard.Regime }

// Decision is the outcome; call it when Next has no more.
func (t *Trial) Decision() Decision {
	if t.decision == nil {
		return Decision{Verdict: Neutral, Best: t.standard.Best, Reasons: []Reason{{Kind: Unfinished}}}
	}
	return *t.decision
}

// Next returns the next run of the evaluation, false when the decision stands.
func (t *Trial) Next() (Step, bool) {
	if t.decision != nil {
		return Step{}, false
	}
	if t.held != nil {
		return t.nextHeld(), true
	}
	stages := []Stage{Once, Again}
	if t.standard.Regime == Noisy {
		stages = []Stage{Pairs, Confirmation}
	}
	for _, stage := range stages {
		if step, more := t.nextOf(stage); more {
			return step, true
		}
	}
	panic("decision: a trial with all its measurements has no decision")
}

// nextOf is the next run of a stage, in the stage's order. What is
// measured in pairs is warmed up before.
func (t *Trial) nextOf(stage Stage) (Step, bool) {
	order, taken := t.order(stage), t.taken[stage]
	done := len(taken[Incumbent]) + len(taken[Candidate])
	if done == len(order) {
		return Step{}, false
	}
	of := 0
	for _, side := range order {
		if side == order[done] {
			of++
		}
	}
	if stage == Pairs || stage == Confirmation {
		for _, side := range []Side{order[0], order[0].other()} {
			if !t.warm[stage][side] {
				return Step{Stage: stage, Side: side, WarmUp: true, Of: of}, true
			}
		}
	}
	return Step{Stage: stage, Side: order[done], Number: len(taken[order[done]]) + 1, Of: of}, true
}

// order is that of the runs of a stage, as many as it has so far.
func (t *Trial) order(stage Stage) []Side {
	order, known := t.orders[stage]
	if !known {
		order = t.standard.order(stage)
		t.orders[stage] = order
	}
	if pairs := t.pairs[stage]; pairs > 0 {
		return order[:2*pairs]
	}
	return order
}

// Add takes the measurement of the step that Next returned.
func (t *Trial) Add(step Step, m metric.Measurement) {
	if step.Stage == Held {
		t.addHeld(step, m)
		return
	}
	t.stage = step.Stage
	if reason := t.standard.Unfit(m); reason != nil {
		t.unfit(step.Side, m, *reason)
		return
	}
	if step.WarmUp {
		t.warm[step.Stage][step.Side] = true
		return
	}
	t.taken[step.Stage][step.Side] = append(t.taken[step.Stage][step.Side], m)
	switch step.Stage { //nolint:exhaustive // what is held went to addHeld
	case Once:
		t.judgeOnce(m)
	case Again:
		t.judgeAgain(step.Side, m)
	case Pairs, Confirmation:
		t.judgePairs(step.Stage)
	}
}

// unfit ends a trial on a measurement that is no number to compare. The
// incumbent's cannot be held against the candidate.
func (t *Trial) unfit(side Side, m metric.Measurement, reason Reason) {
	d := t.standard.decision(Regressed, m.Metric, t.standard.Best, reason)
	if side == Incumbent {
		d = t.standard.decision(Neutral, nil, t.standard.Best, reason)
		d.Fault = &Reason{Kind: IncumbentUnfit, Because: []Reason{reason}}
	}
	t.end(d)
}

func (t *Trial) end(d Decision) {
	d.Evidence = t.evidence
	if d.Verdict == Improved {
		t.holdCases(&d)
	}
	if d.Verdict == Improved && t.hold(d) {
		return
	}
	t.flagEqual(&d)
	t.decision = &d
}

// judgeOnce lets one measurement decide against a candidate, and in a Single
// trial also for it.
func (t *Trial) judgeOnce(m metric.Measurement) {
	d := Decide(t.standard, m)
	if d.Verdict == Improved {
		if reason := t.standard.breach([]metric.Measurement{m}); reason != nil {
			d = t.standard.decision(Regressed, m.Metric, t.standard.Best, *reason)
		}
	}
	if d.Verdict != Improved || t.standard.Regime == Single {
		t.end(d)
	}
}

// judgeAgain compares a repetition with what was measured before: the candidate's
// first number, and the incumbent's recorded one. Where all is the same the gain
// is real; any difference makes the trial noisy, which then begins with its
// pairs.
func (t *Trial) judgeAgain(side Side, m metric.Measurement) {
	if side == Incumbent && !t.repeated(m) || side == Candidate && !t.standard.same(t.taken[Once][Candidate][0], m) {
		t.standard.Regime = Noisy
		return
	}
	if _, more := t.nextOf(Again); more {
		return
	}
	again := t.taken[Again][Candidate]
	d := Decide(t.standard, again[len(again)-1])
	d.Reasons = append(d.Reasons, Reason{Kind: Repeated})
	t.end(d)
}

// repeated reports whether the incumbent's measurement is the recorded one.
func (t *Trial) repeated(m metric.Measurement) bool {
	return t.standard.Best == nil || m.Metric.Cmp(*t.standard.Best) == 0
}

func (r Rule) same(a, b metric.Measurement) bool {
	if a.Metric.Cmp(*b.Metric) != 0 {
		return false
	}
	return !slices.ContainsFunc(r.Guardrails, func(g Guardrail) bool {
		x, printed := a.Numbers[g.Metric]
		y, again := b.Numbers[g.Metric]
		return printed != again || x.Cmp(y) != 0
	})
}

// judgePairs looks at a stage when it is complete and, to save what cannot
// come out well, after a few pairs.
func (t *Trial) judgePairs(stage Stage) {
	old, changed := t.taken[stage][Incumbent], t.taken[stage][Candidate]
	pairs := min(len(old), len(changed))
	_, more := t.nextOf(stage)
	if more && (pairs < earlyLook || t.looked[stage]) {
		return
	}
	t.looked[stage] = true
	effect := t.compare(stage)
	if more && t.standard.Direction.Better(effect.Candidate, effect.Incumbent) {
		return
	}
	t.evidence = append(t.evidence,
		Evidence{Stage: stage, Pairs: pairs, Confidence: t.standard.Confidence, Effect: effect})
	if more {
		t.verdict(Neutral, effect, Reason{
			Kind: EarlyNotBetter, Count: pairs, Value: &effect.Candidate,
			Beside: &effect.Incumbent,
		})
		return
	}
	level := t.standard.level(pairs)
	if t.standard.MaxPairs > t.pairs[stage] && t.standard.promising(effect, level) {
		t.pairs[stage] = t.standard.MaxPairs
		return
	}
	if verdict, reason := t.standard.weigh(effect, pairs, level); verdict != Improved {
		t.verdict(verdict, effect, reason)
		t.decision.Inconclusive = t.standard.inconclusive(effect, level)
		return
	}
	if reason := t.standard.breach(changed); reason != nil {
		t.verdict(Regressed, effect, *reason)
		return
	}
	if stage == Confirmation {
		t.confirmed(effect)
	}
}

func (t *Trial) compare(stage Stage) statistics.Effect {
	old, changed := metrics(t.taken[stage][Incumbent]), metrics(t.taken[stage][Candidate])
	effect := statistics.Shift(old, changed, t.standard.Confidence)
	effect.P = t.standard.chance(t.order(stage)[:len(old)+len(changed)], old, changed)
	return effect
}

func (t *Trial) verdict(verdict Verdict, effect statistics.Effect, reason Reason) {
	if len(t.evidence) > 1 && verdict != Improved {
		reason = Reason{Kind: NotConfirmed, Because: []Reason{reason}}
	}
	t.end(t.standard.decision(verdict, &effect.Candidate, &effect.Incumbent, reason))
}

func (s Standard) weigh(e statistics.Effect, pairs int, level float64) (Verdict, Reason) {
	better := s.Direction.Better(e.Candidate, e.Incumbent)
	beyond := e.P < level
	switch {
	case !better && e.Difference.Sign() != 0 && beyond:
		return Regressed, s.describe(PairsWorse, e, pairs)
	case !better:
		return Neutral, s.describe(PairsNotBetter, e, pairs)
	case s.inconclusive(e, level):
		return Neutral, s.describe(PairsInconclusive, e, pairs)
	case !beyond:
		return Neutral, s.describe(PairsNoGain, e, pairs)
	}
	if reason := s.tooSmall(e.Difference, e.Incumbent); reason != nil {
		return Neutral, *reason
	}
	return Improved, s.describe(PairsBetter, e, pairs)
}

// inconclusive reports whether a better median may be chance, and may be a gain
// worth keeping: the interval holds both.
func (s Standard) inconclusive(e statistics.Effect, level float64) bool {
	if !s.Direction.Better(e.Candidate, e.Incumbent) || e.P < level {
		return false
	}
	most := e.High
	if s.Direction.Better(e.Low, e.High) {
		most = e.Low
	}
	return most.Abs().Cmp(s.MinImprovement.Of(e.Incumbent)) >= 0
}

// promising reports whether a stage is inconclusive and worth as many pairs
// again: the interval would hold no gain no more if the difference stayed what
// it is.
func (s Standard) promising(e statistics.Effect, level float64) bool {
	if !s.inconclusive(e, level) {
		return false
	}
	return math.Abs(e.Difference.Float64())*math.Sqrt2 > e.High.Sub(e.Low).Float64()/2
}

func (s Standard) describe(kind Why, e statistics.Effect, pairs int) Reason {
	return Reason{
		Kind: kind, Value: &e.Candidate, Beside: &e.Incumbent, Low: &e.Low, High: &e.High,
		Confidence: s.Confidence, P: e.P, Count: pairs,
	}
}

func (t *Trial) confirmed(e statistics.Effect) {
	first := t.evidence[0]
	t.end(t.standard.decision(Improved, &e.Candidate, &e.Incumbent,
		t.standard.describe(PairsBetter, e, t.pairs[Confirmation]),
		Reason{Kind: Confirms, Value: &first.Difference, P: first.P}))
}

func metrics(measured []metric.Measurement) []metric.Value {
	values := make([]metric.Value, len(measured))
	for i, m := range measured {
		values[i] = *m.Metric
	}
	return values
}
