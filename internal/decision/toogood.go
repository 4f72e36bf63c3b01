package decision

import (
	"slices"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
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
		held.Warning = []Reason{*held.Held, {Kind: notices, Because: []Reason{*noticed}}, {Kind: LookAtIt}}
		t.flagEqual(&held)
		t.decision = &held
	case step.Side == Emptied && low.Cmp(high) == 0 && !t.standard.LeavesNothing:
		// The garbled files decide.
	default:
		d := t.standard.decision(Regressed, held.Metric, held.Previous,
			Reason{Kind: ignores, Value: &middle}, Reason{Kind: HeldBack, Because: []Reason{*held.Held}})
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
