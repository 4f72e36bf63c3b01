package decision

import (
	"fmt"
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
)

// Side is one of the two trees that are compared.
type Side string

// The sides.
const (
	Incumbent Side = "incumbent"
	Candidate Side = "candidate"
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

// Trial decides about one candidate, one run of the evaluation at a time: ask
// Next, run it, and Add what it measured, until Next has no more. It is a pure
// function of the standard and of the measurements, so that a decision can be
// repeated from the record.
type Trial struct {
	standard Standard
	taken    map[Stage]map[Side][]metric.Measurement
	warm     map[Stage]map[Side]bool
	evidence []Evidence
	decision *Decision
}

// NewTrial begins a trial against a standard.
func NewTrial(standard Standard) *Trial {
	t := &Trial{standard: standard, taken: map[Stage]map[Side][]metric.Measurement{}, warm: map[Stage]map[Side]bool{}}
	for _, stage := range []Stage{Once, Again, Pairs, Confirmation} {
		t.taken[stage], t.warm[stage] = map[Side][]metric.Measurement{}, map[Side]bool{}
	}
	return t
}

// Regime is the standard's, or Noisy from when two equal runs gave two numbers.
func (t *Trial) Regime() Regime { return t.standard.Regime }

// Taken returns the measurements of a side in a stage, in the order in which
// they were taken, without the warm-up.
func (t *Trial) Taken(stage Stage, side Side) []metric.Measurement { return t.taken[stage][side] }

// Decision is the outcome; call it when Next has no more.
func (t *Trial) Decision() Decision {
	if t.decision == nil {
		return Decision{Verdict: Neutral, Best: t.standard.Best, Reasons: []string{"the trial was not finished"}}
	}
	return *t.decision
}

// Next returns the next run of the evaluation, false when the decision stands.
func (t *Trial) Next() (Step, bool) {
	if t.decision != nil {
		return Step{}, false
	}
	if t.standard.Regime != Noisy {
		return t.nextOfOne(), true
	}
	for _, stage := range []Stage{Pairs, Confirmation} {
		if len(t.taken[stage][Incumbent])+len(t.taken[stage][Candidate]) < 2*t.standard.Pairs {
			return t.nextOfPairs(stage), true
		}
	}
	panic("gate: a trial with all its measurements has no decision")
}

func (t *Trial) nextOfOne() Step {
	switch {
	case len(t.taken[Once][Candidate]) == 0:
		return Step{Stage: Once, Side: Candidate, Number: 1, Of: 1}
	case len(t.taken[Again][Incumbent]) == 0:
		return Step{Stage: Again, Side: Incumbent, Number: 1, Of: 1}
	default:
		return Step{Stage: Again, Side: Candidate, Number: 1, Of: 1}
	}
}

// nextOfPairs alternates which side goes first from pair to pair (ABBA), so
// that a machine that gets slower, or a second run that differs from a first,
// treats both alike. The confirmation begins with the other side.
func (t *Trial) nextOfPairs(stage Stage) Step {
	first, second := Incumbent, Candidate
	if stage == Confirmation {
		first, second = second, first
	}
	taken := t.taken[stage]
	step := Step{Stage: stage, Of: t.standard.Pairs}
	for _, side := range []Side{first, second} {
		if !t.warm[stage][side] {
			step.Side, step.WarmUp = side, true
			return step
		}
	}
	done := len(taken[first]) + len(taken[second])
	if pair := done / 2; pair%2 == 1 {
		first, second = second, first
	}
	step.Side = first
	if done%2 == 1 {
		step.Side = second
	}
	step.Number = len(taken[step.Side]) + 1
	return step
}

// Add takes the measurement of the step that Next returned.
func (t *Trial) Add(step Step, m metric.Measurement) {
	if reason := t.standard.unfit(m); reason != "" {
		t.unfit(step.Side, m, reason)
		return
	}
	if step.WarmUp {
		t.warm[step.Stage][step.Side] = true
		return
	}
	t.taken[step.Stage][step.Side] = append(t.taken[step.Stage][step.Side], m)
	switch step.Stage {
	case Once:
		t.judgeOnce(m)
	case Again:
		t.judgeAgain()
	case Pairs, Confirmation:
		t.judgePairs(step.Stage)
	}
}

// unfit ends a trial on a measurement that is no number to compare. The
// incumbent's cannot be held against the candidate.
func (t *Trial) unfit(side Side, m metric.Measurement, reason string) {
	d := t.standard.decision(Regressed, m.Metric, t.standard.Best, reason)
	if side == Incumbent {
		d = t.standard.decision(Neutral, nil, t.standard.Best, reason)
		d.Fault = "the incumbent, measured again, is " + reason
	}
	t.end(d)
}

func (t *Trial) end(d Decision) {
	d.Evidence = t.evidence
	t.decision = &d
}

// judgeOnce lets one measurement decide against a candidate, and in a Single
// trial also for it.
func (t *Trial) judgeOnce(m metric.Measurement) {
	d := Decide(t.standard, m)
	if d.Verdict == Improved {
		if reason := t.standard.breach([]metric.Measurement{m}); reason != "" {
			d = t.standard.decision(Regressed, m.Metric, t.standard.Best, reason)
		}
	}
	if d.Verdict != Improved || t.standard.Regime == Single {
		t.end(d)
	}
}

// judgeAgain compares the repetition with what was measured before: the
// candidate's first number, and the incumbent's recorded one. Where all is the
// same the gain is real; any difference makes the trial noisy, which then
// begins with its pairs.
func (t *Trial) judgeAgain() {
	again := t.taken[Again]
	if old := again[Incumbent]; len(old) > 0 && !t.repeated(old[0]) {
		t.standard.Regime = Noisy
		return
	}
	if len(again[Candidate]) == 0 {
		return
	}
	first, second := t.taken[Once][Candidate][0], again[Candidate][0]
	if !t.standard.same(first, second) {
		t.standard.Regime = Noisy
		return
	}
	d := Decide(t.standard, second)
	d.Reasons = append(d.Reasons, "measured again on both sides with the same result")
	t.end(d)
}

// repeated reports whether the incumbent's measurement is the recorded one.
func (t *Trial) repeated(m metric.Measurement) bool {
	return t.standard.Best == nil || m.Metric.Cmp(*t.standard.Best) == 0
}

// same reports whether two measurements agree in all that decides.
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
	full := len(old) == t.standard.Pairs && len(changed) == t.standard.Pairs
	early := len(old) == earlyLook && len(changed) == earlyLook
	if !full && !early {
		return
	}
	effect := statistics.Compare(metrics(old), metrics(changed), t.standard.Confidence)
	if early && !full {
		if t.standard.Direction.Better(effect.Candidate, effect.Incumbent) {
			return
		}
		t.evidence = append(t.evidence, Evidence{Stage: stage, Pairs: len(old), Confidence: t.standard.Confidence, Effect: effect})
		t.verdict(Neutral, effect, fmt.Sprintf("not better after %d pairs: median %s beside %s", earlyLook, effect.Candidate, effect.Incumbent))
		return
	}
	t.evidence = append(t.evidence, Evidence{Stage: stage, Pairs: len(old), Confidence: t.standard.Confidence, Effect: effect})
	if verdict, reason := t.standard.weigh(effect, len(old)); verdict != Improved {
		t.verdict(verdict, effect, reason)
		return
	}
	if reason := t.standard.breach(changed); reason != "" {
		t.verdict(Regressed, effect, reason)
		return
	}
	if stage == Confirmation {
		t.confirmed(effect)
	}
}

func (t *Trial) verdict(verdict Verdict, effect statistics.Effect, reason string) {
	if len(t.evidence) > 1 && verdict != Improved {
		reason = "not confirmed: " + reason
	}
	t.end(t.standard.decision(verdict, &effect.Candidate, &effect.Incumbent, reason))
}

// weigh says what a complete stage means.
func (s Standard) weigh(e statistics.Effect, pairs int) (Verdict, string) {
	better := s.Direction.Better(e.Candidate, e.Incumbent)
	beyond := e.P < 1-s.Confidence
	switch {
	case !better && e.Difference.Sign() != 0 && beyond:
		return Regressed, s.describe("worse", e, pairs)
	case !better:
		return Neutral, s.describe("not better", e, pairs)
	case !beyond:
		return Neutral, s.describe("inconclusive", e, pairs)
	}
	if reason := s.tooSmall(e.Difference, e.Incumbent); reason != "" {
		return Neutral, reason
	}
	return Improved, s.describe("better", e, pairs)
}

// describe is a comparison in one line.
func (s Standard) describe(word string, e statistics.Effect, pairs int) string {
	return fmt.Sprintf("%s: median %s beside %s, difference %s (%g %% interval %s to %s), p = %.2g, %d pairs",
		word, e.Candidate, e.Incumbent, e.Difference.Signed(), s.Confidence*100, e.Low, e.High, e.P, pairs)
}

func (t *Trial) confirmed(e statistics.Effect) {
	first := t.evidence[0]
	t.end(t.standard.decision(Improved, &e.Candidate, &e.Incumbent,
		t.standard.describe("better", e, t.standard.Pairs),
		fmt.Sprintf("this confirms, in new trees, a difference of %s (p = %.2g)", first.Difference.Signed(), first.P)))
}

func metrics(measured []metric.Measurement) []metric.Value {
	values := make([]metric.Value, len(measured))
	for i, m := range measured {
		values[i] = *m.Metric
	}
	return values
}
