package score

import (
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/tasks/format"
)

// unrepeated labels a comparison of single runs.
func (c *comparer) unrepeated() {
	switch {
	case c.repeated || c.Totals.Tasks == 0:
	case !c.varies && c.Promotable && c.rests():
		c.Promotable = false
		c.note(Reason{Kind: Unrepeated, Text: "unrepeated: the gain rests on the wall-clock time that a single run took; run both sides five times, or set cost-tolerance"})
	case c.varies:
		c.note(Reason{Kind: Unrepeated, Text: "unrepeated: a single run of what may come out otherwise the next time is never promoted; run both sides five times"})
	default:
		c.note(Reason{Kind: Unrepeated, Text: "unrepeated: a single run, in which no model and no judge took part"})
	}
}

// rests reports whether a gain vanishes without the wall-clock time, which varies
// also where no model runs.
func (c *comparer) rests() bool {
	return timed(c.candidate) && Compare(timeless(c.baseline), timeless(c.candidate), c.Thresholds).Verdict != decision.Improved
}

func timed(o format.SuiteOutcome) bool {
	return slices.ContainsFunc(o.Scores, func(s format.Score) bool {
		return slices.ContainsFunc(s.Runs, func(run format.Run) bool { return run.Cost.WallClockMs != nil })
	})
}

// timeless returns an outcome whose wall-clock times are not known.
func timeless(o format.SuiteOutcome) format.SuiteOutcome {
	o.Scores = slices.Clone(o.Scores)
	for i := range o.Scores {
		o.Scores[i].Runs = slices.Clone(o.Scores[i].Runs)
		for k := range o.Scores[i].Runs {
			o.Scores[i].Runs[k].Cost.WallClockMs = nil
		}
	}
	return o
}
