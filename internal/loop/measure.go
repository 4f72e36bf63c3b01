package loop

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
)

// measurement is a trial under way, with what it needs to go on.
type measurement struct {
	*bench
	at    position
	a     *attempt
	trial *decision.Trial
	stage decision.Stage
}

// measure puts the candidate on trial: it runs the evaluation as often, and on
// the side, as the trial asks, and takes its decision over.
func (r *measurer) measure(ctx context.Context, at position, a *attempt) error {
	start := r.Now()
	defer func() { a.Durations["measure"] = r.Now().Sub(start).Seconds() }()
	if r.Suite != nil {
		return r.measureSuite(ctx, at, a)
	}
	if r.own == nil {
		r.own = r.records.EvaluatorWrites
	}
	m := &measurement{bench: r.newBench(), at: at, a: a, trial: decision.NewTrial(r.standard(a))}
	defer m.Close()
	d, err := m.trial.Run(func(step decision.Step) (metric.Measurement, error) { return m.take(ctx, step) })
	end, without := endOf(err)
	switch {
	case without:
		a.end(end.outcome, end.reasons...)
	case err != nil:
		return err
	default:
		m.decide(d)
	}
	m.endStage()
	return nil
}

// take takes one step of the trial, and begins a stage with new environments.
func (m *measurement) take(ctx context.Context, step decision.Step) (metric.Measurement, error) {
	if m.stage != step.Stage {
		m.endStage()
		m.Close()
		m.stage = step.Stage
		m.step("measure", "%s", m.heading(step))
		if step.Stage == decision.Pairs { // it turned out noisy, and may have no time for its pairs
			if problem := m.exceedsTimeLimit(m.records.Seconds, m.records.Prepare); problem != nil {
				m.a.Noisy = true
				return metric.Measurement{}, ends(history.Error, *problem)
			}
		}
	}
	if step.Stage == decision.Pairs || step.Stage == decision.Confirmation {
		text := fmt.Sprintf("%s, pair %d of %d, %s", step.Stage, step.Number, step.Of, step.Side)
		if step.WarmUp {
			text = fmt.Sprintf("%s, warm-up of the %s", step.Stage, step.Side)
		}
		m.minor("measure", "%s", text)
	}
	return m.evaluate(ctx, step)
}

// heading is a stage of a trial in words.
func (m *measurement) heading(step decision.Step) string {
	switch step.Stage { //nolint:exhaustive // the first has no heading
	case decision.Held:
		return decision.Text(m.trial.Held()) + ", too good to be believed at once: the incumbent with emptied files"
	case decision.Again:
		return "there seems to be a gain; both sides once more"
	case decision.Pairs, decision.Confirmation:
		return fmt.Sprintf("%s, up to %d runs of each side", step.Stage, step.Of)
	}
	return ""
}

// endStage records what a stage measured.
func (m *measurement) endStage() {
	for _, role := range []decision.Side{history.Incumbent, history.Candidate, decision.Emptied, decision.Garbled} {
		if taken := m.taken[role]; taken != nil && taken.runs > 0 {
			taken.Role, taken.Stage, taken.Evaluator = role, m.stage, m.at.Evaluator
			m.a.measured = append(m.a.measured, &taken.Measured)
		}
	}
	clear(m.taken)
}

// place is where a side is measured in a stage.
func place(stage decision.Stage, side decision.Side) int {
	first := map[decision.Stage]decision.Side{
		decision.Once: decision.Candidate, decision.Confirmation: decision.Candidate, decision.Held: decision.Emptied,
	}
	if side == cmp.Or(first[stage], decision.Incumbent) {
		return 0
	}
	return 1
}

// subject is what a step measures.
func (m *measurement) subject(ctx context.Context, step decision.Step) (of subject, err error) {
	of = subjectOf(step.Side, m.at.Head)
	switch {
	case step.Side == decision.Candidate:
		of.treeish = m.a.tree
	case step.Stage == decision.Held && step.Number == 1:
		of.change, err = m.breaking(ctx, step.Side)
	}
	return of, err
}

// evaluate runs the evaluation for a step. A warm-up is on record only when it ends the trial.
func (m *measurement) evaluate(ctx context.Context, step decision.Step) (none metric.Measurement, err error) {
	of, err := m.subject(ctx, step)
	if err != nil {
		return none, err
	}
	env, outcome, err := m.once(ctx, place(step.Stage, step.Side), of)
	if err == nil {
		err = m.checkEvaluator(env)
	}
	if err != nil {
		return none, err
	}
	taken := m.samples(of.role)
	taken.Prepare = env.prepare.Seconds()
	if outcome.OverLimit {
		return none, ends(history.Error, decision.NotMeasured.Says(outcome.Problem))
	}
	if !step.WarmUp || m.rule().Unfit(outcome.Measurement) != nil {
		taken.add(outcome, m.Program.Guardrails)
	}
	switch {
	case outcome.Problem == "":
		return outcome.Measurement, nil
	case step.Stage == decision.Held:
		return metric.Measurement{RejectedReason: outcome.Problem}, nil
	}
	return none, m.blame(ctx, step, outcome)
}

// blame ends a trial whose evaluation failed. It finds out whether the candidate is to
// blame: when the incumbent's fails too, nobody is.
func (m *measurement) blame(ctx context.Context, step decision.Step, outcome evaluation.Result) error {
	// two numbers for the same files stay known, whatever came after them
	m.a.Noisy = m.trial.Regime() == decision.Noisy
	if step.Side == decision.Incumbent {
		return ends(history.Error, decision.BaselineFailsAtTimes.Because(decision.Say(outcome.Problem)))
	}
	if outcome.TimedOut && m.hangs(outcome.Duration) {
		return ends(history.Rejected, decision.Reason{
			Kind: decision.EvaluationHangs, Words: outcome.Problem, Value: figure("%.3g", m.records.Seconds),
		})
	}
	m.step("measure", "the incumbent, since the candidate's evaluation failed")
	at := 1 - place(step.Stage, decision.Candidate)
	_, incumbent, err := m.once(ctx, at, subjectOf(history.Incumbent, m.at.Head))
	if err != nil {
		return err
	}
	fails := decision.EvaluationFails.Says(outcome.Problem)
	switch {
	case incumbent.OverLimit:
		return ends(history.Error, fails, decision.BlameUnknown.Says(incumbent.Problem))
	case incumbent.Problem != "":
		return ends(history.Error, fails, decision.FailsUnchanged.Says(incumbent.Problem))
	}
	return ends(history.Rejected, fails)
}

// decide takes the trial's decision over.
func (m *measurement) decide(d decision.Decision) {
	a := m.a
	a.Rule, a.Noisy = new(m.rule()), m.trial.Regime() == decision.Noisy
	if d.Fault != nil {
		a.end(history.Error, *d.Fault)
		return
	}
	a.decide(d)
	if len(d.Warning) > 0 {
		m.note(decision.Joined(d.Warning))
	}
	a.end(outcomeOf(d), reasonsOf(*a.Rule, d)...)
}

// outcomeOf is what becomes of a candidate by a decision.
func outcomeOf(d decision.Decision) state.Status {
	switch {
	case d.Verdict == decision.Improved:
		return history.Accepted
	case d.Inconclusive:
		return history.Inconclusive
	default:
		return history.Rejected
	}
}

// reasonsOf are the reasons of a decision as they are recorded.
func reasonsOf(rule decision.Rule, d decision.Decision) []decision.Reason {
	reasons := slices.Clone(d.Reasons)
	if len(d.Warning) > 0 {
		reasons = append(reasons, decision.Flagged.Because(d.Warning...))
	}
	if d.Verdict == decision.Improved && rule.Regime == decision.Single {
		// seen once: noise alone could have made it
		reasons = append(reasons, decision.Reason{Kind: decision.Unverified})
	}
	return reasons
}
