package skill

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/gate"
	"github.com/org/autoloop/internal/noise"
	"github.com/org/autoloop/internal/score"
	"github.com/org/autoloop/internal/suite"
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
	// before and after are the cases of the last run of each side.
	before, after []suite.CaseScore
}

// try measures a candidate as often as the rule asks and decides.
func (s *state) try(ctx context.Context, n int, candidate string) (tried, error) {
	if s.Runs != 1 {
		return s.trial(ctx, n, candidate)
	}
	found, err := s.measure(ctx, candidate, n)
	t := tried{Measured: found, before: s.best.Cases, after: found.Cases}
	if err != nil {
		return t, err
	}
	if t.refused = found.Fault; t.refused == "" && found.Rate.Cmp(s.best.Rate) <= 0 {
		t.refused = fmt.Sprintf("%s is not better than %s", suite.RateValue(found.Rate), suite.RateValue(s.best.Rate))
	}
	t.remarks = s.withinNoise(found)
	if t.refused == "" {
		t.remarks = joined(unverified, t.remarks)
	}
	return t, nil
}

// rule is how candidates are decided now: Runs pairs, or, for 0, pairs once
// the suite gave two numbers for one version.
func (s *state) rule() gate.Rule {
	rule := gate.Rule{Regime: gate.Repeatable, Pairs: max(gate.DefaultPairs, noise.RunsNeeded(Confidence)), Confidence: Confidence}
	if s.Runs > 0 {
		rule.Pairs = s.Runs
	}
	if s.Runs > 0 || s.noisy {
		rule.Regime = gate.Noisy
	}
	return rule
}

// trial measures candidate and best version side by side.
func (s *state) trial(ctx context.Context, n int, candidate string) (tried, error) {
	t := tried{before: s.best.Cases}
	if err := s.clear(n); err != nil {
		return t, err
	}
	best, runs := suite.RateValue(s.best.Rate), map[gate.Side]int{}
	trial := gate.NewTrial(gate.Standard{Rule: s.rule(), Direction: score.Higher, Best: &best})
	for step, more := trial.Next(); more; step, more = trial.Next() {
		runs[step.Side]++
		found, err := s.side(ctx, n, candidate, step.Side, runs[step.Side])
		switch {
		case err != nil:
			return t, err
		case found.Fault != "" && step.Side == gate.Incumbent:
			return t, fmt.Errorf("the best version, v%d, cannot be measured any more: %s", s.Workspace.Best, found.Fault)
		case found.Fault != "":
			t.Measured, t.refused = found, found.Fault
			return t, nil
		case step.Side == gate.Incumbent:
			t.before = found.Cases
		default:
			t.after = found.Cases
			if runs[step.Side] == 1 {
				t.Measured = found
			}
		}
		rate := suite.RateValue(found.Rate)
		trial.Add(step, score.Measurement{Metric: &rate})
	}
	s.noisy = s.noisy || trial.Regime() == gate.Noisy
	t.conclude(trial.Decision())
	return t, nil
}

// conclude takes a trial's decision over.
func (t *tried) conclude(d gate.Decision) {
	if d.Metric != nil {
		t.Rate = d.Metric.Rat()
	}
	if d.Verdict != gate.Improved {
		t.refused = joined(append(d.Reasons, d.Warning)...)
		return
	}
	t.remarks = joined(append(d.Reasons, d.Warning)...)
}

// side runs the suite for one side, for the time k in this iteration. The first
// run of the candidate is the iteration's own.
func (s *state) side(ctx context.Context, n int, candidate string, side gate.Side, k int) (Measured, error) {
	dir, out := candidate, s.Workspace.Iteration(n)
	switch {
	case side == gate.Incumbent:
		dir, out = s.Workspace.Version(s.Workspace.Best), filepath.Join(out, fmt.Sprint(incumbentRun, k))
	case k > 1:
		out = filepath.Join(out, fmt.Sprint(candidateRun, k))
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
