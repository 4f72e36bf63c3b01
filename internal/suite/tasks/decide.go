package tasks

import (
	"fmt"
	"strconv"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
)

// decide settles the verdict and what a person is told.
func (c *comparer) decide() {
	counts := map[decision.Verdict]*int{
		decision.Improved: &c.Totals.Improved, decision.Neutral: &c.Totals.Neutral,
		decision.Regressed: &c.Totals.Regressed,
	}
	whole := c.Regressions
	c.Regressions = []Reason{}
	for i, t := range c.tasks {
		if t.Regressed = len(t.regressions) > 0; t.Regressed {
			t.Verdict = decision.Regressed
		} else if t.Composite != nil && t.Composite.Sign() > 0 {
			t.Verdict = decision.Improved
		}
		if i < c.Totals.Tasks {
			*counts[t.Verdict]++
		}
		c.Deltas, c.Regressions = append(c.Deltas, t.Delta), append(c.Regressions, t.regressions...)
	}
	c.Regressions = append(c.Regressions, whole...)
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
	var several []*task
	var composites, objectives []sample
	for _, t := range c.tasks {
		if c.repeated && t.both() && t.Composite != nil {
			composites = append(composites, sampleOf(t.composites, func(v metric.Value) metric.Value { return v }))
			objectives = append(objectives, sampleOf(t.runs, passRate))
			several = append(several, t)
		}
	}
	const work = 5_000_000 // bounds very large suites
	most := max(1000, min(maxArrangements, work/max(1, len(c.outcomes[1].Scores))))
	c.chances = exchange(composites, c.shared, most)
	checks := exchange(objectives, c.shared, most)
	for i, t := range several {
		if t.Composite.Sign() < 0 {
			t.PValue = new(c.chances.drop(i))
		}
		if !c.Thresholds.ObjectiveDropIsRegression || t.Objective == nil || !t.worse() {
			continue
		}
		// Few runs come to that by chance, and the more tasks there are, the more often one does.
		if p := checks.drop(i); p <= significance {
			t.regress(t.objectiveReason(ObjectiveDrop,
				", and no run of the candidate is as good as the baseline's worst ("+chanceText(p)+")"))
		} else {
			c.hold("a task that may have lost checks", t.objectiveReason(NotSignificant,
				", which may be chance ("+chanceText(p)+"); nothing is promoted"))
		}
	}
	limit := c.Thresholds.RegressionCompositeDrop
	for _, t := range c.tasks {
		if t.Composite == nil || !t.both() || t.Composite.Sign() >= 0 || t.Composite.Abs().Cmp(limit) <= 0 {
			continue
		}
		more := fmt.Sprintf(", a drop of more than %s", limit)
		switch {
		case !c.repeated:
			t.regress(t.compositeReason(CompositeDrop, more))
		case *t.PValue <= significance:
			t.regress(t.compositeReason(CompositeDrop, more+" that is not chance ("+chanceText(*t.PValue)+")"))
		default:
			c.note(t.compositeReason(NotSignificant, more+" that may be chance ("+chanceText(*t.PValue)+")"))
		}
	}
}

// net adds up, and holds the sum against the band and against chance.
func (c *comparer) net() {
	var net metric.Value
	for _, t := range c.tasks[:c.Totals.Tasks] {
		if t.Composite == nil {
			return
		}
		net = net.Add(*t.Composite)
	}
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
		if min(c.Totals.Baseline.Runs, c.Totals.Candidate.Runs) < enoughRuns {
			text += "; repeat both sides five times"
		}
		c.note(Reason{Kind: NotSignificant, After: net.Signed(), Text: text})
	case net.Sign() > 0:
		c.Verdict = decision.Improved
	}
}

// enoughRuns on each side can show a gain, however few the tasks are.
const enoughRuns = 5

// unrepeated labels a comparison of single runs.
func (c *comparer) unrepeated() {
	if c.repeated || c.Totals.Tasks == 0 {
		return
	}
	text := "unrepeated: a single run, in which no model and no judge took part"
	switch {
	case c.varies:
		text = "unrepeated: a single run of what may come out otherwise the next time is never promoted; run both " +
			"sides five times"
	case c.Promotable && !c.timeless && compare(c.outcomes, c.Thresholds, true).Verdict != decision.Improved:
		c.Promotable = false
		text = "unrepeated: the gain rests on the wall-clock time that a single run took; run both sides five " +
			"times, or set cost-tolerance"
	}
	c.note(Reason{Kind: Unrepeated, Text: text})
}

func (c *comparer) summary() string {
	said := "the net composite gain could not be computed"
	if c.NetGain != nil {
		said = fmt.Sprintf("net composite gain %s over %s", c.NetGain.Signed(), counted(c.Totals.Tasks, "task"))
		if c.PValue != nil && c.NetGain.Sign() > 0 {
			said += " (" + chanceText(*c.PValue) + ")"
		}
	}
	band := c.Thresholds.MinCompositeGain
	switch {
	case c.Totals.Tasks == 0:
		said = "nothing to compare"
	case len(c.Regressions) > 0:
		said = counted(len(c.Regressions), "hard regression") + ", " + said
	case c.Verdict == decision.Improved:
		if said += ", no hard regression"; !c.Promotable {
			said += "; not promotable, because it is a single run"
		}
	case c.NetGain == nil || c.NetGain.Sign() <= 0:
	case c.NetGain.Cmp(band) <= 0:
		said += fmt.Sprintf(", which does not exceed %s", band)
	case c.held != "":
		said += ", held back by " + c.held
	default:
		said += ", which may be chance"
	}
	return fmt.Sprintf("%s: %s", c.Verdict, said)
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
