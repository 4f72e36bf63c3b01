package audit

import (
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// Decision computes one decision again, from the books before it and from what
// was measured for it, and says where the record differs; nothing when it does not.
func Decision(before history.Books, measured []history.Event, decided history.Event) []string {
	all := make([]*history.Event, len(measured))
	for i := range measured {
		all[i] = &measured[i]
	}
	var report Report
	report.decided(before, ofProposal(all, decided.Proposal), &decided)
	messages := make([]string, len(report.Findings))
	for i, finding := range report.Findings {
		messages[i] = finding.Message
	}
	return messages
}

// decided computes one decision again and compares.
func (r *Report) decided(before history.Books, measured []*history.Event, e *history.Event) {
	r.Decisions++
	if (e.Outcome == history.Accepted) != (e.Verdict == string(decision.Improved)) && e.Outcome != history.PendingCI && e.Outcome != history.CIFixExhausted {
		r.find(Ledger, e.Iteration, fmt.Sprintf("the outcome is %s with the verdict %q", e.Outcome, e.Verdict))
	}
	switch {
	case e.Rule == nil && e.Verdict == "":
		return // nothing was compared
	case e.Rule == nil:
		r.Old++
		return
	}
	r.Repeated++
	again, problem := repeat(before, measured, e)
	if problem != "" {
		r.find(Ledger, e.Iteration, problem)
		return
	}
	if again.Fault != "" {
		if e.Outcome != history.Error {
			r.find(Ledger, e.Iteration, "nothing can be decided ("+again.Fault+"), and the record says "+string(e.Outcome))
		}
		return
	}
	for _, pair := range [][3]string{
		{"the verdict", string(again.Verdict), e.Verdict},
		{"the metric", optional(again.Metric), optional(e.Metric)},
		{"what it was compared with", optional(again.Previous), optional(e.PreviousBest)},
		{"the best afterwards", optional(again.Best), optional(e.Best)},
		{"the delta", again.Delta, e.Delta},
		{"the evidence", evidence(history.EvidenceOf(again.Evidence)), evidence(e.Evidence)},
	} {
		if pair[1] != pair[2] {
			r.find(Ledger, e.Iteration, fmt.Sprintf("%s is %s in the record, and its measurements give %s", pair[0], pair[2], pair[1]))
		}
	}
}

// repeat runs the trial on the recorded measurements. The problem says why it
// cannot be repeated.
func repeat(before history.Books, measured []*history.Event, e *history.Event) (d decision.Decision, problem string) {
	rule := e.Rule.Decision()
	trial := decision.NewTrial(decision.Standard{
		Rule: rule, Direction: e.Direction, Best: before.Best, Target: e.Target, Initial: before.Guardrails, Gains: before.Gains,
	})
	taken := map[decision.Stage]map[decision.Side]int{}
	for {
		step, more := trial.Next()
		if !more {
			return obeyed(trial.Decision(), before, measured, rule), ""
		}
		at := slices.IndexFunc(measured, func(m *history.Event) bool {
			return m.Stage == string(step.Stage) && string(m.Role) == string(step.Side)
		})
		if at < 0 && step.WarmUp {
			trial.Add(step, metric.Measurement{Metric: before.Best}) // it went well, and the other side's did not
			continue
		}
		if at < 0 {
			return d, fmt.Sprintf("the decision needs a measurement of the %s (%s), which is not recorded", step.Side, step.Stage)
		}
		counts := taken[step.Stage]
		if counts == nil {
			counts = map[decision.Side]int{}
			taken[step.Stage] = counts
		}
		number := counts[step.Side]
		if !step.WarmUp {
			counts[step.Side]++
		}
		m, ok := sample(measured[at], number, rule.Guardrails)
		if !ok {
			return d, fmt.Sprintf("the decision needs run %d of the %s (%s), and %d are recorded", number+1, step.Side, step.Stage, number)
		}
		trial.Add(step, m)
	}
}

// obeyed is the decision under a rule that lets no case be lost. The cases of
// the last stage's runs count, the incumbent's of the books when it was not run
// again.
func obeyed(d decision.Decision, before history.Books, measured []*history.Event, rule decision.Rule) decision.Decision {
	if !rule.NoCaseRegression || d.Verdict != decision.Improved || len(measured) == 0 {
		return d
	}
	last := measured[len(measured)-1].Stage
	had, has := decision.RatesOf(before.Numbers), decision.CaseRates(nil)
	for _, m := range measured {
		switch {
		case m.Stage != last:
		case m.Role == history.Incumbent:
			had = m.CaseRates()
		case m.Role == history.Candidate:
			has = m.CaseRates()
		}
	}
	if len(decision.LostCases(had, has)) == 0 {
		return d
	}
	return d.Forbidden(before.Best)
}

// sample is one recorded run. A warm-up, which is not recorded, stands behind
// the first run after it.
func sample(e *history.Event, number int, rails []decision.Guardrail) (metric.Measurement, bool) {
	if number >= len(e.Samples) {
		// A run that could not be scored ends a trial and leaves no sample.
		return metric.Measurement{RejectedReason: e.RejectedReason}, number == len(e.Samples) && e.Problem == ""
	}
	m := metric.Measurement{Metric: &e.Samples[number], Numbers: map[string]metric.Value{}}
	for _, rail := range rails {
		if values := e.GuardrailSamples[rail.Metric]; number < len(values) {
			m.Numbers[rail.Metric] = values[number]
		}
	}
	return m, true
}

func evidence(list []history.Evidence) string {
	text := ""
	for _, e := range list {
		text += fmt.Sprintf("[%s: %d pairs, medians %s and %s, p = %.6g]", e.Stage, e.Pairs, e.Incumbent, e.Candidate, e.P)
	}
	return text
}

func optional(v *metric.Value) string {
	if v == nil {
		return "—"
	}
	return v.String()
}
