package decision

import (
	"math"
	"slices"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/lists"
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
	parts    map[Stage]*part
	evidence []Evidence
	decision *Decision
}

// part is a stage of a trial: whose run comes when, without warm-ups, how many of those it has
// so far, and what the first of them measured.
type part struct {
	order  []Side
	length int
	taken  []metric.Measurement
	warm   int  // warm-ups that were run
	looked bool // the early look was taken
}

// NewTrial begins a trial against a standard.
func NewTrial(standard Standard) *Trial {
	t := &Trial{standard: standard, parts: map[Stage]*part{Held: {}}}
	for _, stage := range []Stage{Once, Again, Pairs, Confirmation} {
		order := standard.order(stage)
		t.parts[stage] = &part{order: order, length: len(order)}
		if stage == Pairs || stage == Confirmation {
			t.parts[stage].length = 2 * standard.Pairs
		}
	}
	return t
}

// of is what one side measured.
func (p *part) of(side Side) (taken []metric.Measurement) {
	for i, m := range p.taken {
		if p.order[i] == side {
			taken = append(taken, m)
		}
	}
	return taken
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
	p := t.parts[stage]
	if len(p.taken) == p.length {
		return Step{}, false
	}
	step := Step{Stage: stage, Side: p.order[len(p.taken)]}
	for _, side := range p.order[:p.length] {
		if side == step.Side {
			step.Of++
		}
	}
	if step.WarmUp = (stage == Pairs || stage == Confirmation) && p.warm < 2; !step.WarmUp {
		step.Number = len(p.of(step.Side)) + 1
	} else if p.warm == 1 { // the other side
		step.Side = map[Side]Side{Incumbent: Candidate, Candidate: Incumbent}[step.Side]
	}
	return step, true
}

// Add takes the measurement of the step that Next returned.
func (t *Trial) Add(step Step, m metric.Measurement) {
	if step.Stage == Held {
		t.addHeld(step, m)
		return
	}
	t.stage = step.Stage
	if reason := t.standard.Unfit(m); reason != nil {
		verdict := Regressed
		if step.Side == Incumbent { // it cannot be held against the candidate
			verdict, m.Metric = Neutral, nil
		}
		d := t.standard.decision(verdict, m.Metric, t.standard.Best, *reason)
		if step.Side == Incumbent {
			d.Fault = &Reason{Kind: IncumbentUnfit, Because: d.Reasons}
		}
		t.end(d)
		return
	}
	p := t.parts[step.Stage]
	if step.WarmUp {
		p.warm++
		return
	}
	p.taken = append(p.taken, m)
	switch step.Stage { //nolint:exhaustive // what is held went to addHeld
	case Once:
		t.judgeOnce(m)
	case Again:
		t.judgeAgain(step.Side, m)
	case Pairs, Confirmation:
		t.judgePairs(step.Stage, p)
	}
}

func (t *Trial) end(d Decision) {
	d.Evidence = t.evidence
	if d.Verdict == Improved {
		t.holdCases(&d)
	}
	if t.hold(d) {
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
	best, once, again := t.standard.Best, t.parts[Once].taken[0], t.parts[Again]
	repeated := best == nil || m.Metric.Cmp(*best) == 0
	if side == Candidate {
		repeated = t.standard.same(once, m)
	}
	switch {
	case !repeated:
		t.standard.Regime = Noisy
	case len(again.taken) == again.length:
		d := Decide(t.standard, once)
		d.Reasons = append(d.Reasons, Reason{Kind: Repeated})
		t.end(d)
	}
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
func (t *Trial) judgePairs(stage Stage, p *part) {
	s, old, changed := t.standard, metrics(p.of(Incumbent)), metrics(p.of(Candidate))
	pairs, more := min(len(old), len(changed)), len(p.taken) < p.length
	if more && (pairs < earlyLook || p.looked) {
		return
	}
	p.looked = true
	e := Evidence{
		Stage: stage, Pairs: pairs, Confidence: s.Confidence, Effect: statistics.Shift(old, changed, s.Confidence),
	}
	e.P = s.chance(p, old, changed)
	if more && s.Direction.Better(e.Candidate, e.Incumbent) {
		return
	}
	t.evidence = append(t.evidence, e)
	if more {
		t.verdict(Neutral, e, Reason{Kind: EarlyNotBetter, Count: pairs, Value: &e.Candidate, Beside: &e.Incumbent})
		return
	}
	verdict, reason := s.weigh(e)
	// The interval would hold no gain no more if the difference stayed what it is.
	promising := reason.Kind == PairsInconclusive &&
		math.Abs(e.Difference.Float64())*math.Sqrt2 > e.High.Sub(e.Low).Float64()/2
	if promising && 2*s.MaxPairs > p.length {
		p.length = 2 * s.MaxPairs
		return
	}
	if broken := s.breach(p.of(Candidate)); verdict == Improved && broken != nil {
		verdict, reason = Regressed, *broken
	}
	switch {
	case verdict != Improved:
		t.verdict(verdict, e, reason)
	case stage == Confirmation:
		first := t.evidence[0]
		t.verdict(verdict, e, reason, Reason{Kind: Confirms, Value: &first.Difference, P: first.P})
	}
}

// verdict ends the trial with what a comparison came to.
func (t *Trial) verdict(verdict Verdict, e Evidence, reasons ...Reason) {
	inconclusive := reasons[0].Kind == PairsInconclusive
	if len(t.evidence) > 1 && verdict != Improved {
		reasons = []Reason{NotConfirmed.Because(reasons...)}
	}
	d := t.standard.decision(verdict, &e.Candidate, &e.Incumbent, reasons...)
	d.Inconclusive = inconclusive
	t.end(d)
}

// weigh says what a comparison means. A better median that may be chance, and may be a gain
// worth keeping since the interval holds both, is inconclusive.
func (s Standard) weigh(e Evidence) (Verdict, Reason) {
	better, beyond := s.Direction.Better(e.Candidate, e.Incumbent), e.P < s.level(e.Pairs)
	most := e.High
	if s.Direction.Better(e.Low, e.High) {
		most = e.Low
	}
	verdict, kind := Neutral, PairsNotBetter
	switch {
	case !better && e.Difference.Sign() != 0 && beyond:
		verdict, kind = Regressed, PairsWorse
	case !better:
	case !beyond && most.Abs().Cmp(s.MinImprovement.Of(e.Incumbent)) >= 0:
		kind = PairsInconclusive
	case !beyond:
		kind = PairsNoGain
	default:
		if reason := s.tooSmall(e.Difference, e.Incumbent); reason != nil {
			return Neutral, *reason
		}
		verdict, kind = Improved, PairsBetter
	}
	return verdict, Reason{
		Kind: kind, Value: &e.Candidate, Beside: &e.Incumbent, Low: &e.Low, High: &e.High,
		Confidence: s.Confidence, P: e.P, Count: e.Pairs,
	}
}

func metrics(measured []metric.Measurement) []metric.Value {
	return lists.Map(measured, func(m metric.Measurement) metric.Value { return *m.Metric })
}
