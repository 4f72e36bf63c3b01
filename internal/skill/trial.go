package skill

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/skill/evals"
	"github.com/org/autoloop/internal/skill/workspace"
)

// Confidence is that of repeated runs.
const Confidence = 0.95

// incumbentRun begins the names of the directories of the best version's runs in
// an iteration, candidateRun those of the candidate's after its first.
const incumbentRun, candidateRun = "incumbent-", "run-"

// tried is what the runs of a candidate came to.
type tried struct {
	// Measured is the first run, with the rate that was decided by.
	Measured
	// refused says why the candidate is dropped, "" when it is kept; remarks is
	// what there is to say beside.
	refused, remarks string
	// trial says that there may be more runs than that one.
	trial bool
	// before and after are the cases in the runs that decided, of each side.
	before, after decision.CaseRates
}

// rates are the pass rates of cases in all runs of a version.
func (m Measured) rates() decision.CaseRates {
	runs := make([]map[string]metric.Value, len(m.Runs))
	for i, cases := range m.Runs {
		runs[i] = evals.CaseNumbers(cases)
	}
	return decision.RatesOf(runs...)
}

// try measures a candidate as often as the rule asks and decides.
func (s *state) try(ctx context.Context, n int, candidate string) (tried, error) {
	if s.Runs != 1 {
		return s.trial(ctx, n, candidate)
	}
	found, err := s.measure(ctx, candidate, n)
	t := tried{Measured: found, before: s.best.rates(), after: found.rates()}
	if err != nil {
		return t, err
	}
	if t.refused = found.Fault; t.refused == "" && found.Rate.Cmp(s.best.Rate) <= 0 {
		t.refused = fmt.Sprintf("%s is not better than %s", evals.RateValue(found.Rate), evals.RateValue(s.best.Rate))
	}
	t.remarks = s.withinNoise(found)
	if t.refused == "" {
		t.remarks = joinRemarks(unverified, t.remarks)
	}
	return t, nil
}

// rule is how candidates are decided now: Runs pairs, or, for 0, pairs once
// the suite gave two numbers for one version.
func (s *state) rule() decision.Rule {
	rule := decision.Rule{Regime: decision.Repeatable, Pairs: max(decision.DefaultPairs, statistics.RunsNeeded(Confidence)), Confidence: Confidence}
	if s.Runs > 0 {
		rule.Pairs = s.Runs
	}
	if s.Runs > 0 || s.noisy {
		rule.Regime = decision.Noisy
	}
	return rule
}

// trial measures candidate and best version side by side.
func (s *state) trial(ctx context.Context, n int, candidate string) (tried, error) {
	t := tried{before: s.best.rates(), trial: true}
	if err := s.clear(n); err != nil {
		return t, err
	}
	record := &Runs{Schema: workspace.Schema, Incumbent: s.Workspace.Best}
	best, runs, stage := evals.RateValue(s.best.Rate), map[decision.Side]int{}, decision.Once
	trial := decision.NewTrial(decision.Standard{Rule: s.rule(), Direction: metric.Higher, Best: &best})
	for step, more := trial.Next(); more; step, more = trial.Next() {
		runs[step.Side]++
		dir := runOf(step.Side, runs[step.Side])
		found, err := s.side(ctx, n, candidate, step.Side, dir)
		switch {
		case err != nil:
			return t, err
		case found.Fault != "" && step.Side == decision.Incumbent:
			return t, fmt.Errorf("the best version, v%d, cannot be measured any more: %s", s.Workspace.Best, found.Fault)
		case found.Fault != "":
			t.Measured, t.refused = found, found.Fault
			return t, nil
		case step.Side == decision.Candidate && runs[step.Side] == 1:
			t.Measured = found
		}
		rate := evals.RateValue(found.Rate)
		record.Runs = append(record.Runs, Run{Dir: dir, Side: string(step.Side), Stage: string(step.Stage), WarmUp: step.WarmUp, Score: rate})
		trial.Add(step, metric.Measurement{Metric: &rate, Numbers: evals.CaseNumbers(found.Runs[0])})
		stage = step.Stage
	}
	s.noisy = s.noisy || trial.Regime() == decision.Noisy
	if taken := trial.Taken(stage, decision.Incumbent); len(taken) > 0 {
		t.before = ratesOf(taken)
	}
	t.after = ratesOf(trial.Taken(stage, decision.Candidate))
	t.conclude(trial.Decision())
	record.count()
	return t, record.write(s.Workspace.Iteration(n))
}

// ratesOf are the pass rates of cases in the runs of a side.
func ratesOf(taken []metric.Measurement) decision.CaseRates {
	runs := make([]map[string]metric.Value, len(taken))
	for i, m := range taken {
		runs[i] = m.Numbers
	}
	return decision.RatesOf(runs...)
}

// conclude takes a trial's decision over.
func (t *tried) conclude(d decision.Decision) {
	if d.Metric != nil {
		t.Rate = d.Metric.Rat()
	}
	if d.Verdict != decision.Improved {
		t.refused = joinRemarks(append(d.Reasons, d.Warning)...)
		return
	}
	t.remarks = joinRemarks(append(d.Reasons, d.Warning)...)
}

// runOf is the directory of the run k of a side, from the iteration's. The first
// run of the candidate is the iteration's own.
func runOf(side decision.Side, k int) string {
	switch {
	case side == decision.Incumbent:
		return fmt.Sprint(incumbentRun, k)
	case k > 1:
		return fmt.Sprint(candidateRun, k)
	default:
		return "."
	}
}

// side runs the suite for one side, into a directory of the iteration's.
func (s *state) side(ctx context.Context, n int, candidate string, side decision.Side, run string) (Measured, error) {
	dir, out := candidate, filepath.Join(s.Workspace.Iteration(n), run)
	if side == decision.Incumbent {
		dir = s.Workspace.Version(s.Workspace.Best)
	}
	if err := os.MkdirAll(out, 0o755); err != nil { //nolint:gosec // for people, like the workspace that it is in
		return Measured{}, fmt.Errorf("make a directory for the evaluation: %w", err)
	}
	return s.Evals.Measure(ctx, dir, out)
}

// wasNoisy reports whether an earlier iteration came to pairs: it then measured
// the best version more than once.
func (s *state) wasNoisy() bool {
	for n := range s.last + 1 {
		if _, err := os.Lstat(filepath.Join(s.Workspace.Iteration(n), incumbentRun+"2")); err == nil {
			return true
		}
	}
	return false
}
