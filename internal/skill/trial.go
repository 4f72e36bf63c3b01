package skill

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/suite/evals"
)

// Confidence is that of repeated runs.
const Confidence = 0.95

// incumbentRun begins the names of the directories of the best version's runs in
// an iteration.
const incumbentRun = "incumbent-"

// tried is what the runs of a candidate came to.
type tried struct {
	// Measured is the first run, with the rate that was decided by.
	Measured
	// refused says why the candidate is dropped, "" when it is kept; remarks is
	// what there is to say beside.
	refused, remarks string
	// several says that there may be more runs than that one.
	several bool
}

// rule is how candidates are decided now: by single runs, by Runs pairs, or, for
// 0, by pairs once the suite gave two numbers for one version.
func (s *state) rule() decision.Rule {
	rule := decision.Rule{
		Version: decision.RuleVersion, Regime: decision.Repeatable,
		Pairs: max(decision.DefaultPairs, statistics.RunsNeeded(Confidence)), Confidence: Confidence,
		NoCaseRegression: s.NoCaseRegression,
	}
	switch {
	case s.Runs == 1:
		rule.Regime = decision.Single
	case s.Runs > 1:
		rule.Regime, rule.Pairs = decision.Noisy, s.Runs
	case s.noisy:
		rule.Regime = decision.Noisy
	}
	if s.Runs == 0 {
		rule.MaxPairs = 2 * rule.Pairs
	}
	return rule
}

// errEnded ends a trial whose candidate cannot be measured.
var errEnded = errors.New("the candidate cannot be measured")

// try measures candidate and best version as often as the rule asks, and decides.
func (s *state) try(ctx context.Context, n int, candidate string) (tried, error) {
	rule := s.rule()
	t := tried{several: rule.Regime != decision.Single}
	if err := s.clear(n); err != nil {
		return t, err
	}
	record := &Runs{Schema: workspace.Schema, Incumbent: s.Workspace.Best, Rule: rule.Version, Seed: rand.Text()}
	best, runs := evals.RateValue(s.best.Rate), map[decision.Side]int{}
	trial := decision.NewTrial(decision.Standard{
		Rule: rule, Seed: record.Seed, Direction: metric.Higher, Best: &best,
		Cases: ratesOf(s.best.Runs),
	})
	made, err := trial.Run(func(step decision.Step) (m metric.Measurement, err error) {
		runs[step.Side]++
		found, dir, err := s.side(ctx, n, candidate, step.Side, runs[step.Side])
		switch {
		case err != nil:
			return m, err
		case found.Fault != "" && step.Side == decision.Incumbent:
			return m, fmt.Errorf("the best version, v%d, cannot be measured any more: %s", s.Workspace.Best,
				found.Fault)
		case found.Fault != "":
			t.Measured, t.refused = found, found.Fault
			return m, errEnded
		case step.Side == decision.Candidate && runs[step.Side] == 1:
			t.Measured = found
		}
		rate := evals.RateValue(found.Rate)
		record.Runs = append(record.Runs,
			Run{Dir: dir, Side: string(step.Side), Stage: string(step.Stage), WarmUp: step.WarmUp, Score: rate})
		return metric.Measurement{Metric: &rate, Numbers: evals.CaseNumbers(found.Runs[0])}, nil
	})
	switch {
	case errors.Is(err, errEnded):
		return t, nil
	case err != nil:
		return t, err
	}
	s.noisy = s.noisy || trial.Regime() == decision.Noisy
	if made.Metric != nil {
		t.Rate = made.Metric.Rat()
	}
	said := append(decision.Texts(made.Reasons), decision.Joined(made.Warning))
	switch {
	case made.Verdict != decision.Improved:
		t.refused = joinRemarks(said...)
	case t.several:
		t.remarks = joinRemarks(said...)
	default: // the scores of single runs say that it is better
		t.remarks = joinRemarks(append([]string{unverified}, said[1:]...)...)
	}
	if !t.several {
		t.remarks = joinRemarks(t.remarks, s.withinNoise(t.Measured))
		return t, nil
	}
	record.count()
	return t, record.write(s.Workspace.Iteration(n))
}

// side runs the suite for one side the time k, into a directory of the iteration's, which
// it names. The first run of the candidate is the iteration's own.
func (s *state) side(ctx context.Context, n int, candidate string, side decision.Side, k int) (m Measured, run string,
	err error,
) {
	dir, label := candidate, fmt.Sprint("iteration ", n)
	switch {
	case side == decision.Incumbent:
		dir, run = s.Workspace.Version(s.Workspace.Best), fmt.Sprint(incumbentRun, k)
		label += fmt.Sprintf(", run %d of the best version", k)
	case k > 1:
		run = fmt.Sprint("run-", k)
		label += fmt.Sprint(", run ", k)
	default:
		run = "."
	}
	out := filepath.Join(s.Workspace.Iteration(n), run)
	if err := os.MkdirAll(out, 0o755); err != nil { //nolint:gosec // for people, like the workspace that it is in
		return m, run, fmt.Errorf("make a directory for the evaluation: %w", err)
	}
	m, err = s.Evals.Measure(ctx, label, dir, out)
	return m, run, err
}

// unverified marks a gain that was seen once: noise alone could have made it.
const unverified = "unverified: measured once"

// withinNoise says of a single run that it is too near to the best to mean
// much, else "".
func (s *state) withinNoise(found Measured) string {
	if found.Fault != "" || found.Rate == nil || !found.Graded {
		return ""
	}
	now, best := evals.RateValue(found.Rate), evals.RateValue(s.best.Rate)
	if !render.WithinNoise(now, best) {
		return ""
	}
	return now.Sub(best).Signed() + " is within a grader's noise"
}

// joinRemarks puts what there is to say into one line.
func joinRemarks(parts ...string) string {
	var there []string
	for _, part := range parts {
		if part != "" {
			there = append(there, part)
		}
	}
	return strings.Join(there, " — ")
}
