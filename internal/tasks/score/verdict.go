package score

import (
	"fmt"

	"github.com/org/autoloop/internal/decision"
)

// drops finds composites that fell beyond the threshold, with several runs
// only where chance does not explain it.
func (c *comparer) drops() {
	for i, place := range c.places {
		if d := &c.Deltas[place]; d.Composite.Sign() < 0 {
			d.PValue = new(c.chances.drop(i))
		}
	}
	limit := c.Thresholds.RegressionCompositeDrop
	for _, d := range c.Deltas {
		if d.Composite == nil || d.CandidateRuns == 0 || d.BaselineRuns == 0 || d.Composite.Sign() >= 0 || d.Composite.Abs().Cmp(limit) <= 0 {
			continue
		}
		switch {
		case !c.repeated:
			c.regress(c.compositeReason(CompositeDrop, d, fmt.Sprintf(", a drop of more than %s", limit)))
		case d.PValue != nil && *d.PValue <= significance:
			c.regress(c.compositeReason(CompositeDrop, d, fmt.Sprintf(", a drop of more than %s that is not chance (%s)", limit, chanceText(*d.PValue))))
		case d.PValue != nil:
			c.note(c.compositeReason(NotSignificant, d, fmt.Sprintf(", a drop of more than %s that may be chance (%s)", limit, chanceText(*d.PValue))))
		}
	}
}

// net adds up, and holds the sum against the band and against chance.
func (c *comparer) net() {
	if c.sum == nil {
		return
	}
	net := rounded(c.sum)
	c.NetGain = &net
	beyond := net.Abs().Cmp(c.Thresholds.MinCompositeGain) > 0 && net.Sign() != 0
	gainP, lossP := 0.0, 0.0
	if c.repeated {
		gainP, lossP = c.chances.net()
		c.PValue = &gainP
	}
	switch {
	case !beyond:
	case net.Sign() < 0 && c.Thresholds.NetLossIsRegression && lossP <= significance:
		c.regress(Reason{
			Kind: NetLoss, After: net.Signed(),
			Text: fmt.Sprintf("net loss %s, beyond %s", net.Signed(), c.Thresholds.MinCompositeGain),
		})
	case net.Sign() > 0 && gainP > significance:
		text := fmt.Sprintf("a net gain of %s may be chance (%s, at most %g is needed)", net, chanceText(gainP), significance)
		tasks := c.Totals.Tasks
		if c.Thresholds.Shared {
			tasks = 1
		}
		if !EnoughRuns(tasks, min(c.Totals.Baseline.Runs, c.Totals.Candidate.Runs)) {
			text += "; so few runs can never show a gain, repeat both sides five times"
		}
		c.note(Reason{Kind: NotSignificant, After: net.Signed(), Text: text})
	case net.Sign() > 0:
		c.Verdict = decision.Improved
	}
}

// EnoughRuns reports whether that many runs on each side of a suite could
// show a significant gain at all.
func EnoughRuns(tasks, runs int) bool {
	all := 1.0
	for range tasks {
		if all *= arrangements(runs, runs); all*significance >= 1 {
			return true
		}
	}
	return false
}
