package decision

import (
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/cure"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

const (
	// outOfProportion is how many times a number must exceed the one before, or a
	// gain the largest one before, to be too good to be believed at once.
	outOfProportion = 10
	// enoughGains is how many gains make a history to compare with.
	enoughGains = 3
	// heldRuns is how often the emptied files are measured where the candidate's
	// numbers scatter.
	heldRuns = 3
)

// tooGood says why a gain is more often a fault of the evaluation than a success,
// "" when it is not. A suite's rates, whose evaluation is ours, may begin with 0.
func (s Standard) tooGood(key metric.Value, previous *metric.Value) string {
	if previous == nil {
		return ""
	}
	small, large := key.Abs(), previous.Abs()
	if small.Cmp(large) > 0 {
		small, large = large, small
	}
	times := metric.FromInt(outOfProportion)
	switch {
	case s.CheckTooGood && key.Sign() == 0:
		return fmt.Sprintf("%s → 0 is a drop to zero", previous)
	case s.CheckTooGood && previous.Sign() == 0:
		return fmt.Sprintf("0 → %s is more than %d times as much", key, outOfProportion)
	case small.Sign() > 0 && large.Cmp(small.Mul(times)) > 0:
		return fmt.Sprintf("%s → %s is a jump beyond %d times", previous, key, outOfProportion)
	}
	if len(s.Gains) < enoughGains {
		return ""
	}
	gain, largest := key.Sub(*previous).Abs(), slices.MaxFunc(s.Gains, metric.Value.Cmp)
	if gain.Cmp(largest.Mul(times)) > 0 {
		return fmt.Sprintf("a gain of %s is more than %d times the largest before it (%s)", gain, outOfProportion, largest)
	}
	return ""
}

// hold keeps an improvement back that is too good to be believed at once, and
// reports whether it did: the incumbent with the files emptied that the candidate
// changed is measured first.
func (t *Trial) hold(d Decision) bool {
	if t.held != nil || !t.version.Checks || !t.standard.CheckTooGood {
		return false
	}
	if d.Held = t.standard.tooGood(*d.Metric, d.Previous); d.Held == "" {
		return false
	}
	t.held = &d
	return true
}

// Held says why the gain is held, "" when it is not.
func (t *Trial) Held() string {
	if t.held == nil {
		return ""
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
	if done := len(t.taken[Held][Emptied]); done < of {
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
	without := "with the changed files emptied"
	if step.Side == Garbled {
		without = "with a syntax error in the changed files"
	}
	noticed := t.standard.unfit(m)
	if noticed == "" {
		t.taken[Held][step.Side] = append(t.taken[Held][step.Side], m)
		if step.Number < step.Of {
			return
		}
		noticed = t.noticed(step.Side)
	}
	low, high := t.spread()
	switch {
	case noticed != "" && step.Side == Emptied:
		t.release(fmt.Sprintf("%s the evaluation notices: %s", without, noticed))
	case noticed != "":
		t.release(fmt.Sprintf("with the changed files emptied the evaluation gives the same, but %s it notices: %s", without, noticed))
	case step.Side == Emptied && low.Cmp(high) == 0 && !t.standard.LeavesNothing:
		// The garbled files decide.
	default:
		d := t.standard.decision(Regressed, t.held.Metric, t.held.Previous,
			cure.Independent.Mark(fmt.Sprintf("the number does not depend on what was measured: %s the evaluation gives %s as well", without, t.median(step.Side))),
			t.held.Held+", so it was held")
		d.Held, d.Evidence = t.held.Held, t.held.Evidence
		t.decision = &d
	}
}

// release ends the trial with the gain that was held.
func (t *Trial) release(why string) {
	d := *t.held
	d.Warning = fmt.Sprintf("%s, so it was held: %s; look at the change", d.Held, why)
	t.decision = &d
}

// noticed says in what the evaluation tells such files from the candidate's, "" when
// it gives the same for both.
func (t *Trial) noticed(side Side) string {
	runs := t.taken[Held][side]
	if reason := t.standard.breach(runs, t.version); reason != "" {
		return reason
	}
	low, high := t.spread()
	apart, middle := high.Sub(low), t.median(side)
	if middle.Cmp(low.Sub(apart)) < 0 || middle.Cmp(high.Add(apart)) > 0 {
		return fmt.Sprintf("it gives %s", middle)
	}
	return ""
}

func (t *Trial) median(side Side) metric.Value {
	return statistics.Median(metrics(t.taken[Held][side]))
}

// spread is the least and the greatest number of the candidate in the stage that
// decided.
func (t *Trial) spread() (low, high metric.Value) {
	samples := metrics(t.taken[t.stage][Candidate])
	return slices.MinFunc(samples, metric.Value.Cmp), slices.MaxFunc(samples, metric.Value.Cmp)
}
