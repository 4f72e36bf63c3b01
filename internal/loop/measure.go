package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// Samples are what the two sides of a trial measured, in their order.
type Samples struct {
	Incumbent []metric.Value `json:"incumbent"`
	Candidate []metric.Value `json:"candidate"`
}

// measurement is a trial under way, with what it needs to go on.
type measurement struct {
	*measurer
	at    position
	a     *attempt
	trial *decision.Trial
	bench *bench
	stage decision.Stage
	taken map[decision.Side]*samples // in this stage
	// warmUp is a warm-up that was just run. It is on record only when it ended
	// the trial.
	warmUp func()
}

// measure puts the candidate on trial: it runs the evaluation as often, and on
// the side, as the trial asks, and takes its decision over.
func (r *measurer) measure(ctx context.Context, at position, a *attempt) error {
	if r.Suite != nil {
		return r.measureSuite(ctx, at, a)
	}
	start := r.Now()
	m := &measurement{measurer: r, at: at, a: a, trial: decision.NewTrial(r.standard(a)), bench: r.newBench(at.Head)}
	defer m.bench.Close()
	err := m.all(ctx)
	m.close()
	a.Durations["measure"] = r.Now().Sub(start).Seconds()
	return err
}

// sides are all that a trial can measure, in the order in which it is recorded.
var sides = [...]decision.Side{decision.Incumbent, decision.Candidate, decision.Emptied, decision.Garbled}

// errEnded ends a trial whose attempt has ended without a decision.
var errEnded = errors.New("the attempt has ended")

func (m *measurement) all(ctx context.Context) error {
	_, err := m.trial.Run(func(step decision.Step) (metric.Measurement, error) { return m.take(ctx, step) })
	if errors.Is(err, errEnded) {
		return nil
	}
	if changed, ok := errors.AsType[*failedError](err); ok {
		m.a.end(history.Error, changed.reason)
		return nil
	}
	if err != nil {
		return err
	}
	m.decide()
	return nil
}

// take takes one step of the trial.
func (m *measurement) take(ctx context.Context, step decision.Step) (metric.Measurement, error) {
	m.warmUp = nil
	if m.stage != step.Stage {
		m.open(step.Stage)
		m.step("measure", m.heading(step))
		if m.refused() {
			return metric.Measurement{}, errEnded
		}
	}
	if step.Stage == decision.Pairs || step.Stage == decision.Confirmation {
		text := fmt.Sprintf("%s, pair %d of %d, %s", step.Stage, step.Number, step.Of, step.Side)
		if step.WarmUp {
			text = fmt.Sprintf("%s, warm-up of the %s", step.Stage, step.Side)
		}
		m.minor("measure", text+m.timeLeft(step))
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

// open begins a stage with new environments.
func (m *measurement) open(stage decision.Stage) {
	m.close()
	m.bench.Close()
	m.stage, m.taken = stage, map[decision.Side]*samples{}
	for _, side := range sides {
		m.taken[side] = &samples{}
	}
}

// close records what a stage measured.
func (m *measurement) close() {
	for _, side := range sides {
		taken := m.taken[side]
		if taken == nil || taken.runs == 0 {
			continue
		}
		event := taken.event(history.Role(side))
		event.Iteration, event.Stage, event.Evaluator = m.iteration, m.stage, m.at.identity.Evaluator
		m.a.measured = append(m.a.measured, event)
	}
	m.taken = nil
}

// refused ends a trial that turned out noisy and has no time for its pairs.
func (m *measurement) refused() bool {
	if m.stage != decision.Pairs {
		return false
	}
	problem := m.exceedsTimeLimit(m.records.sum.Seconds, m.records.sum.Prepare)
	if problem == nil {
		return false
	}
	m.a.Noisy = true
	m.a.end(history.Error, *problem)
	return true
}

// place is where a side is measured in a stage.
func place(stage decision.Stage, side decision.Side) int {
	first := decision.Incumbent
	switch stage { //nolint:exhaustive // the others begin with the incumbent
	case decision.Once, decision.Confirmation:
		first = decision.Candidate
	case decision.Held:
		first = decision.Emptied
	}
	if side == first {
		return 0
	}
	return 1
}

// evaluate runs the evaluation for a step.
func (m *measurement) evaluate(ctx context.Context, step decision.Step) (metric.Measurement, error) {
	none := metric.Measurement{}
	treeish := m.at.Head
	if step.Side == decision.Candidate {
		treeish = m.a.tree
	}
	env, err := m.bench.environment(ctx, place(step.Stage, step.Side), history.Role(step.Side), treeish)
	if err != nil {
		return none, err
	}
	if step.Stage == decision.Held && step.Number == 1 {
		if env.change, err = m.breaking(ctx, step.Side); err != nil {
			return none, err
		}
		if err := env.change(env.tree.Dir); err != nil {
			return none, err
		}
	}
	outcome, err := env.evaluate(ctx)
	if err != nil {
		return none, err
	}
	if err := m.checkEvaluator(ctx, step, env); err != nil {
		return none, err
	}
	taken := m.taken[step.Side]
	taken.prepare = env.prepare.Seconds()
	switch {
	case outcome.OverLimit:
		m.a.end(history.Error, decision.Reason{Kind: decision.NotMeasured, Words: outcome.Problem})
		return none, errEnded
	case outcome.Problem == "" && step.WarmUp:
		m.warmUp = func() { taken.add(outcome, m.Program.Guardrails) }
		return outcome.Measurement, nil
	}
	taken.add(outcome, m.Program.Guardrails)
	switch {
	case outcome.Problem != "" && step.Stage == decision.Held:
		return metric.Measurement{RejectedReason: outcome.Problem}, nil
	case outcome.Problem != "":
		return none, cmp.Or(m.failed(ctx, step, outcome.Problem), errEnded)
	}
	return outcome.Measurement, nil
}

// failed finds out whether the candidate is to blame for a failed evaluation:
// when the incumbent's fails too, nobody is.
func (m *measurement) failed(ctx context.Context, step decision.Step, problem string) error {
	// two numbers for the same files stay known, whatever came after them
	m.a.Noisy = m.trial.Regime() == decision.Noisy
	if step.Side == decision.Incumbent {
		m.a.end(history.Error, decision.Reason{
			Kind:    decision.BaselineFailsAtTimes,
			Because: []decision.Reason{decision.Say(problem)},
		})
		return nil
	}
	if timedOut := m.taken[step.Side]; timedOut.timedOut && m.hangs(timedOut.lasted) {
		m.a.end(history.Rejected, decision.Reason{
			Kind: decision.EvaluationHangs, Words: problem,
			Value: figure("%.3g", m.records.sum.Seconds),
		})
		return nil
	}
	m.step("measure", "the incumbent, since the candidate's evaluation failed")
	env, err := m.bench.environment(ctx, 1-place(step.Stage, decision.Candidate), history.Incumbent, m.at.Head)
	if err != nil {
		return err
	}
	incumbent, err := env.evaluate(ctx)
	if err != nil {
		return err
	}
	fails := decision.Reason{Kind: decision.EvaluationFails, Words: problem}
	switch {
	case incumbent.OverLimit:
		m.a.end(history.Error, fails, decision.Reason{Kind: decision.BlameUnknown, Words: incumbent.Problem})
	case incumbent.Problem != "":
		m.a.end(history.Error, fails, decision.Reason{Kind: decision.FailsUnchanged, Words: incumbent.Problem})
	default:
		m.a.end(history.Rejected, fails)
	}
	return nil
}

// decide takes the trial's decision over.
func (m *measurement) decide() {
	a, d := m.a, m.trial.Decision()
	if m.warmUp != nil {
		m.warmUp()
	}
	a.Rule, a.Noisy = new(m.rule()), m.trial.Regime() == decision.Noisy
	if d.Fault != nil {
		a.end(history.Error, *d.Fault)
		return
	}
	a.decide(d)
	if len(d.Warning) > 0 {
		m.warnings = append(m.warnings, decision.Joined(d.Warning))
	}
	a.end(outcomeOf(d), reasonsOf(*a.Rule, d)...)
}

// outcomeOf is what becomes of a candidate by a decision.
func outcomeOf(d decision.Decision) history.Outcome {
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
		reasons = append(reasons, decision.Reason{Kind: decision.Flagged, Because: d.Warning})
	}
	if d.Verdict == decision.Improved && rule.Regime == decision.Single {
		// seen once: noise alone could have made it
		reasons = append(reasons, decision.Reason{Kind: decision.Unverified})
	}
	return reasons
}
