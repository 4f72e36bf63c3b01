package score

import (
	"slices"

	"github.com/org/autoloop/internal/decision"
)

// sortRegressions brings the regressions into the order of the tasks.
func (c *comparer) sortRegressions() {
	place := map[string]int{"": len(c.Deltas)}
	for i, d := range c.Deltas {
		place[d.TaskID] = i
	}
	slices.SortStableFunc(c.Regressions, func(a, b Reason) int { return place[a.Task] - place[b.Task] })
}

// decide settles the verdict and what a person is told.
func (c *comparer) decide() {
	c.sortRegressions()
	for _, r := range c.Regressions {
		for i := range c.Deltas {
			if d := &c.Deltas[i]; r.Task != "" && d.TaskID == r.Task {
				d.Regressed, d.Verdict = true, decision.Regressed
			}
		}
	}
	for i := range c.Deltas {
		c.count(&c.Deltas[i], i < c.Totals.Tasks)
	}
	switch {
	case len(c.Regressions) > 0:
		c.Verdict = decision.Regressed
	case c.held != "" && c.Verdict == decision.Improved:
		c.Verdict = decision.Neutral
	}
	if c.Totals.Tasks == 0 {
		c.note(Reason{Kind: NothingToCompare, Text: "the baseline has no tasks: there is nothing to compare"})
	}
	c.Promotable = c.Verdict == decision.Improved && (c.repeated || !c.varies)
	c.unrepeated()
	c.Summary = c.summary()
}

// count gives a task without a hard regression its verdict, and adds it to the
// totals when the baseline has it.
func (c *comparer) count(d *Delta, ofBaseline bool) {
	switch {
	case d.Regressed:
	case d.Composite != nil && d.Composite.Sign() > 0:
		d.Verdict = decision.Improved
	default:
		d.Verdict = decision.Neutral
	}
	if !ofBaseline {
		return
	}
	switch d.Verdict {
	case decision.Improved:
		c.Totals.Improved++
	case decision.Regressed:
		c.Totals.Regressed++
	default:
		c.Totals.Neutral++
	}
}
