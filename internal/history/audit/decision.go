package audit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// Decision computes one decision again, from the records before it and from what
// was measured for it; the error says where the record differs first. The decision is
// the zero value when it cannot be computed.
func Decision(before history.Summary, measured []*history.Measured,
	decided *history.Decided,
) (decision.Decision, error) {
	var report Report
	again := report.decided(before, ofProposal(measured, decided.Proposal), decided)
	if len(report.Findings) > 0 {
		return again, errors.New(report.Findings[0].Message)
	}
	return again, nil
}

// decided computes one decision again and compares.
func (r *Report) decided(before history.Summary, measured []*history.Measured, e *history.Decided) decision.Decision {
	r.Decisions++
	if !fits(e) {
		r.find(Ledger, e.Iteration, "the outcome is %s with the verdict %q", e.Outcome, e.Verdict)
	}
	sampled := slices.ContainsFunc(measured, func(m *history.Measured) bool {
		return m.Role == history.Candidate && len(m.Samples) > 0
	})
	if e.Rule == nil && (e.Verdict == "" || before.Executor != nil && !sampled) {
		return decision.Decision{} // nothing was compared, or task by task, which is not recorded
	}
	again, err := repeat(before, measured, e)
	if err != nil {
		r.find(Ledger, e.Iteration, "%s", err)
		return decision.Decision{}
	}
	r.Repeated++
	if again.Fault != nil {
		if e.Outcome != history.Error {
			r.find(Ledger, e.Iteration, "nothing can be decided (%s), and the record says %s",
				again.Fault, e.Outcome)
		}
		return again
	}
	r.compare(e, again, "%s is %s in the record, and its measurements give %s")
	return again
}

// fits reports whether a decision may have its outcome with its verdict.
func fits(e *history.Decided) bool {
	switch e.Outcome {
	case history.PendingCI, history.CIFixExhausted:
		return true // CI has the last word on any verdict
	case history.Inconclusive:
		return e.Verdict == decision.Neutral
	default:
		return (e.Outcome == history.Accepted) == (e.Verdict == decision.Improved)
	}
}

// settled compares a decision that CI ended with the one that waited for CI, which was
// computed again: CI can only take it back. One that was replayed, since what it stood on
// was merged, waits again, as another commit.
func (r *Report) settled(pending, e *history.Decided, replayed bool) {
	r.Decisions++
	was := decision.Decision{
		Verdict: pending.Verdict, Metric: pending.Metric, Previous: pending.PreviousBest, Best: pending.Best,
		Delta: pending.Delta, Evidence: pending.Evidence,
	}
	if e.Outcome != history.Accepted && !replayed {
		was.Best = e.Best // what it was before is held against the state
	}
	r.compare(e, was, "%s is %s after CI, and was %s when it waited for CI")
	if e.Commit != pending.Commit && !replayed && (e.Outcome == history.Accepted || e.Commit != "") {
		r.find(Ledger, e.Iteration, "CI was waited for with commit %.12s, and %.12s was decided",
			pending.Commit, e.Commit)
	}
}

// compare holds a decision against what it should be.
func (r *Report) compare(e *history.Decided, want decision.Decision, format string) {
	for _, one := range [][3]string{
		{"the verdict", string(e.Verdict), string(want.Verdict)},
		{"the metric", history.ValueText(e.Metric), history.ValueText(want.Metric)},
		{"what it was compared with", history.ValueText(e.PreviousBest), history.ValueText(want.Previous)},
		{"the best afterwards", history.ValueText(e.Best), history.ValueText(want.Best)},
		{"the delta", e.Delta, want.Delta},
		{"the evidence", evidence(e.Evidence), evidence(want.Evidence)},
	} {
		r.same(Ledger, e.Iteration, format, one[0], one[1], one[2])
	}
}

// repeat runs the trial on the recorded measurements. An error says why it cannot be repeated.
func repeat(before history.Summary, measured []*history.Measured, e *history.Decided) (decision.Decision, error) {
	rule := cmp.Or(e.Rule, &decision.Rule{})
	reason := impossible(*rule)
	switch {
	case reason != "":
	case rule.Version != decision.RuleVersion:
		reason = fmt.Sprintf("version %d of the rule is not known here: use a newer autoloop", rule.Version)
	case e.Seed == "":
		reason = "the order of its runs is not known: no seed is recorded"
	}
	if reason != "" {
		return decision.Decision{}, fmt.Errorf("the decision cannot be computed again: %s", reason)
	}
	trial := decision.NewTrial(decision.Standard{
		Rule: *rule, Direction: e.Direction, Best: before.Best, Initial: before.Guardrails,
		Gains: before.Gains,
		Cases: decision.RatesOf(before.Numbers), Seed: e.Seed, LeavesNothing: e.LeavesNothing,
	})
	return trial.Run(func(step decision.Step) (metric.Measurement, error) {
		at := slices.IndexFunc(measured, func(m *history.Measured) bool {
			return m.Stage == step.Stage && m.Role == step.Side
		})
		switch {
		case at < 0 && step.WarmUp:
			return metric.Measurement{Metric: before.Best}, nil // it went well, and the other side's did not
		case at < 0:
			return metric.Measurement{}, fmt.Errorf(
				"the decision needs a measurement of the %s (%s), which is not recorded", step.Side, step.Stage)
		}
		if step.Stage == decision.Held && len(measured[at].Samples) < step.Number && measured[at].Problem != "" {
			return metric.Measurement{RejectedReason: measured[at].Problem}, nil // a failure is what is looked for
		}
		number := max(step.Number-1, 0)
		m, ok := sample(measured[at], number, rule.Guardrails)
		if !ok {
			return m, fmt.Errorf("the decision needs run %d of the %s (%s), and %d are recorded", number+1, step.Side,
				step.Stage, number)
		}
		return m, nil
	})
}

// mostPairs is more than any program can ask for.
const mostPairs = 10_000

// impossible says what a rule has that no program can ask for, or "". A trial by such a
// rule has no end, or a length that somebody made up.
func impossible(rule decision.Rule) string {
	switch rule.Regime {
	case decision.Single:
		return ""
	case decision.Repeatable, decision.Noisy:
	default:
		return fmt.Sprintf("no program asks for the regime %.40q", rule.Regime)
	}
	if most := max(rule.Pairs, rule.MaxPairs); rule.Pairs < 1 || most > mostPairs {
		return fmt.Sprintf("no program asks for %d pairs, %d at most", rule.Pairs, rule.MaxPairs)
	}
	if rule.Confidence <= 0 || rule.Confidence >= 1 {
		return fmt.Sprintf("no program asks for a confidence of %g", rule.Confidence)
	}
	return ""
}

// sample is one recorded run. A warm-up, which is not recorded, stands behind
// the first run after it.
func sample(e *history.Measured, number int, rails []decision.Guardrail) (metric.Measurement, bool) {
	if number >= len(e.Samples) {
		// A run that could not be scored ends a trial and leaves no sample.
		return metric.Measurement{RejectedReason: e.RejectedReason}, number == len(e.Samples) && e.Problem == ""
	}
	m := metric.Measurement{Metric: &e.Samples[number], Numbers: map[string]metric.Value{}}
	for name, values := range e.CaseRates() {
		if len(values) > 0 {
			m.Numbers[name] = values[min(number, len(values)-1)]
		}
	}
	for _, rail := range rails {
		if values := e.GuardrailSamples[rail.Metric]; number < len(values) {
			m.Numbers[rail.Metric] = values[number]
		}
	}
	return m, true
}

func evidence(list []decision.Evidence) string {
	text := ""
	for _, e := range list {
		text += fmt.Sprintf("[%s: %d pairs, medians %s and %s, difference %s within %s and %s at %g, p = %.6g]",
			e.Stage, e.Pairs, e.Incumbent, e.Candidate, e.Difference, e.Low, e.High, e.Confidence, e.P)
	}
	return text
}

// Disagreement says that the incumbent, as the trial of a candidate that was not
// kept measured it last, is not what the records before it have; nil when
// it is.
func Disagreement(before history.Summary, measured []*history.Measured) *decision.Reason {
	for _, m := range slices.Backward(measured) {
		if m.Role == history.Incumbent && m.Stage != "" && len(m.Samples) > 0 {
			return decision.Disagreement(before.Samples, m.Samples)
		}
	}
	return nil
}

// disagreement holds what a decision says of the incumbent against that.
func (r *Report) disagreement(before history.Summary, measured []*history.Measured, e *history.Decided) {
	var again *decision.Reason
	if !history.Promoted(e) {
		again = Disagreement(before, measured)
	}
	r.same(Ledger, e.Iteration, "of %s it says %q, and its measurements %q", "the incumbent",
		decision.Text(e.Disagreement), decision.Text(again))
}

// rule holds the rule of a decision against what came before it and against the
// program file.
func (a *walk) rule(e *history.Decided) {
	if e.Rule == nil {
		return
	}
	if e.Rule.Regime == decision.Repeatable && a.summary.Noisy {
		a.find(Ledger, e.Iteration, "the evaluation was known to be noisy, and the rule takes it for one that "+
			"repeats itself")
	}
	now := fmt.Sprint(e.Rule.Low, e.Rule.High, e.Rule.Guardrails)
	if was, known := a.bounds[a.summary.Definition]; !known {
		a.bounds[a.summary.Definition] = now
	} else if was != now {
		a.find(Ledger, e.Iteration, "its guardrails or its range are not those of the decisions before it, under the "+
			"same evaluation")
	}
	if len(a.asked) > 0 && !slices.ContainsFunc(a.asked, e.Rule.IsOf) {
		a.find(Ledger, e.Iteration, "no version of the program file asks for the rule that is recorded")
	}
}
