package score

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/format"
)

// decide settles the verdict and what a person is told.
func (c *comparer) decide() {
	place := map[string]int{"": len(c.Deltas)} // the order of the tasks
	for i, d := range c.Deltas {
		place[d.TaskID] = i
	}
	slices.SortStableFunc(c.Regressions, func(a, b Reason) int { return place[a.Task] - place[b.Task] })
	counts := map[decision.Verdict]*int{
		decision.Improved: &c.Totals.Improved, decision.Neutral: &c.Totals.Neutral,
		decision.Regressed: &c.Totals.Regressed,
	}
	for i := range c.Deltas {
		d := &c.Deltas[i]
		switch {
		case slices.ContainsFunc(c.Regressions, func(r Reason) bool { return r.Task != "" && r.Task == d.TaskID }):
			d.Regressed, d.Verdict = true, decision.Regressed
		case d.Composite != nil && d.Composite.Sign() > 0:
			d.Verdict = decision.Improved
		}
		if i < c.Totals.Tasks {
			*counts[d.Verdict]++
		}
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

// chance asks of the tasks that several runs tell apart whether chance explains it, and
// finds composites that fell beyond the threshold.
func (c *comparer) chance() {
	var composites, objectives []sample
	var places []int
	for i, t := range c.tasks {
		if c.repeated && t.both() && c.Deltas[i].Composite != nil {
			composites = append(composites, sampleOf(t.composites, func(v metric.Value) metric.Value { return v }))
			objectives = append(objectives, sampleOf(t.runs, passRate))
			places = append(places, i)
		}
	}
	const work = 5_000_000 // bounds very large suites
	most := max(1000, min(maxArrangements, work/max(1, len(c.outcomes[1].Scores))))
	c.chances = exchange(composites, c.Thresholds.Shared, most)
	checks := exchange(objectives, c.Thresholds.Shared, most)
	for i, place := range places {
		d := &c.Deltas[place]
		if d.Composite.Sign() < 0 {
			d.PValue = new(c.chances.drop(i))
		}
		if !c.Thresholds.ObjectiveDropIsRegression || d.Objective == nil || !c.tasks[place].worse() {
			continue
		}
		// Few runs come to that by chance, and the more tasks there are, the more often one does.
		if p := checks.drop(i); p <= significance {
			c.regress(objectiveReason(ObjectiveDrop, *d,
				fmt.Sprintf(", and no run of the candidate is as good as the baseline's worst (%s)", chanceText(p))))
		} else {
			c.hold("a task that may have lost checks", objectiveReason(NotSignificant, *d,
				fmt.Sprintf(", which may be chance (%s); nothing is promoted", chanceText(p))))
		}
	}
	limit := c.Thresholds.RegressionCompositeDrop
	for i, d := range c.Deltas {
		if d.Composite == nil || !c.tasks[i].both() || d.Composite.Sign() >= 0 || d.Composite.Abs().Cmp(limit) <= 0 {
			continue
		}
		more := fmt.Sprintf(", a drop of more than %s", limit)
		switch {
		case !c.repeated:
			c.regress(compositeReason(CompositeDrop, d, more))
		case *d.PValue <= significance:
			c.regress(compositeReason(CompositeDrop, d, more+" that is not chance ("+chanceText(*d.PValue)+")"))
		default:
			c.note(compositeReason(NotSignificant, d, more+" that may be chance ("+chanceText(*d.PValue)+")"))
		}
	}
}

func objectiveReason(kind ReasonKind, d Delta, more string) Reason {
	before, after := d.BaselineObjective.String(), d.CandidateObjective.String()
	return reasonOf(kind, d.TaskID, "objective %s → %s checks passed%s", before, after, more).values(before, after)
}

func compositeReason(kind ReasonKind, d Delta, more string) Reason {
	before, after := d.BaselineComposite.String(), d.CandidateComposite.String()
	return reasonOf(kind, d.TaskID, "composite %s → %s (%s)%s", before, after, d.Composite.Signed(), more).
		values(before, after)
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
		text := fmt.Sprintf("a net gain of %s may be chance (%s, at most %g is needed)", net, chanceText(gainP),
			significance)
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

// unrepeated labels a comparison of single runs.
func (c *comparer) unrepeated() {
	timed := slices.ContainsFunc(c.outcomes[1].Scores, func(s format.Score) bool {
		return slices.ContainsFunc(s.Runs, func(run format.Run) bool { return run.Cost.WallClockMs != nil })
	})
	switch {
	case c.repeated || c.Totals.Tasks == 0:
	case !c.varies && c.Promotable && timed && Compare(timeless(c.outcomes[0]),
		timeless(c.outcomes[1]), c.Thresholds).Verdict != decision.Improved:
		c.Promotable = false
		c.note(Reason{
			Kind: Unrepeated,
			Text: "unrepeated: the gain rests on the wall-clock time that a single run took; run both sides five " +
				"times, or set cost-tolerance",
		})
	case c.varies:
		c.note(Reason{
			Kind: Unrepeated,
			Text: "unrepeated: a single run of what may come out otherwise the next time is never promoted; run both " +
				"sides five times",
		})
	default:
		c.note(Reason{Kind: Unrepeated, Text: "unrepeated: a single run, in which no model and no judge took part"})
	}
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

func (c *comparer) summary() string {
	net := "the net composite gain could not be computed"
	if c.NetGain != nil {
		net = fmt.Sprintf("net composite gain %s over %s", c.NetGain.Signed(), counted(c.Totals.Tasks, "task"))
		if c.PValue != nil && c.NetGain.Sign() > 0 {
			net += fmt.Sprintf(" (%s)", chanceText(*c.PValue))
		}
	}
	switch {
	case c.Totals.Tasks == 0:
		return fmt.Sprintf("%s: nothing to compare", c.Verdict)
	case len(c.Regressions) > 0:
		return fmt.Sprintf("%s: %s, %s", c.Verdict, counted(len(c.Regressions), "hard regression"), net)
	case c.Verdict == decision.Improved && c.Promotable:
		return fmt.Sprintf("%s: %s, no hard regression", c.Verdict, net)
	case c.Verdict == decision.Improved:
		return fmt.Sprintf("%s: %s, no hard regression; not promotable, because it is a single run", c.Verdict, net)
	default:
		return fmt.Sprintf("%s: %s%s", c.Verdict, net, c.why())
	}
}

// why says what keeps a gain from being one.
func (c *comparer) why() string {
	band := c.Thresholds.MinCompositeGain
	switch {
	case c.NetGain == nil || c.NetGain.Sign() <= 0:
		return ""
	case c.NetGain.Cmp(band) <= 0:
		return fmt.Sprintf(", which does not exceed %s", band)
	case c.held != "":
		return ", held back by " + c.held
	default:
		return ", which may be chance"
	}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// chanceText renders a probability: p = 0.0079.
func chanceText(p float64) string {
	if p < 0.0001 {
		return "p < 0.0001"
	}
	return "p = " + strconv.FormatFloat(p, 'g', 2, 64)
}
