package skill

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
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
	// score is what was decided by, nil where it cannot be measured.
	score *metric.Value
	// refused says why the candidate is dropped, "" when it is kept; remarks is
	// what there is to say beside.
	refused, remarks string
}

// rule is how candidates are decided now: by single runs, by Runs pairs, or, for
// 0, by pairs once the suite gave two numbers for one version.
func (l *Loop) rule() decision.Rule {
	rule := decision.RuleOf(l.Runs, Confidence)
	rule.NoCaseRegression = l.NoCaseRegression
	if l.Runs == 0 {
		rule.MaxPairs = 2 * rule.Pairs
		if l.noisy {
			rule.Regime = decision.Noisy
		}
	}
	return rule
}

// try measures candidate and best version as often as the rule asks, and decides.
func (l *Loop) try(ctx context.Context, n int) (t tried, err error) {
	rule := l.rule()
	if err := os.RemoveAll(l.Iteration(n)); err != nil { // what an interrupted iteration left
		return t, err
	}
	record := &Runs{Schema: workspace.Schema, Incumbent: l.Best, Rule: rule.Version, Seed: rand.Text()}
	best, runs := evals.RateValue(l.best.Rate), map[decision.Side]int{}
	trial := decision.NewTrial(decision.Standard{
		Rule: rule, Seed: record.Seed, Direction: metric.Higher, Best: &best,
		Cases: ratesOf(l.best.Runs()),
	})
	made, err := trial.Run(func(step decision.Step) (m metric.Measurement, err error) {
		runs[step.Side]++
		dir, run, label := l.side(n, step.Side, runs[step.Side])
		found, fault, err := l.measure(ctx, label, dir, filepath.Join(l.Iteration(n), run))
		switch {
		case err != nil:
			return m, err
		case fault != "" && step.Side == decision.Incumbent:
			return m, fmt.Errorf("the best version, v%d, cannot be measured any more: %s", l.Best, fault)
		case fault != "":
			t.refused = fault
			return m, errors.New(fault) // the trial ends here
		}
		rate := evals.RateValue(found.Rate)
		record.Runs = append(record.Runs,
			Run{Dir: run, Side: string(step.Side), Stage: string(step.Stage), WarmUp: step.WarmUp, Score: rate})
		return metric.Measurement{Metric: &rate, Numbers: evals.CaseNumbers(found.Cases)}, nil
	})
	if t.refused != "" {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	l.noisy = l.noisy || trial.Regime() == decision.Noisy
	t.score = made.Metric
	said := append(decision.Texts(made.Reasons), decision.Joined(made.Warning))
	single := rule.Regime == decision.Single
	switch {
	case made.Verdict != decision.Improved:
		t.refused = joinRemarks(said...)
	case single: // the scores say that it is better; noise alone could have made that
		t.remarks = joinRemarks(append([]string{"unverified: measured once"}, said[1:]...)...)
	default:
		t.remarks = joinRemarks(said...)
	}
	if single {
		t.remarks = joinRemarks(t.remarks, l.withinNoise(*t.score))
		return t, nil
	}
	return t, record.write(l.Iteration(n))
}

// side is what is measured of one side the time k: a directory, the one of the iteration's
// that the cases are left in, and what people call it. The first run of the candidate is the
// iteration's own.
func (l *Loop) side(n int, side decision.Side, k int) (dir, run, label string) {
	label = fmt.Sprint("iteration ", n)
	switch {
	case side == decision.Incumbent:
		return l.Version(l.Best), fmt.Sprint(incumbentRun, k),
			fmt.Sprintf("%s, run %d of the best version", label, k)
	case k > 1:
		return l.Candidate(), fmt.Sprint("run-", k), fmt.Sprint(label, ", run ", k)
	default:
		return l.Candidate(), ".", label
	}
}

// withinNoise says of a single run that it is too near to the best to mean
// much, else "".
func (l *Loop) withinNoise(now metric.Value) string {
	best := evals.RateValue(l.best.Rate)
	if !l.Suite.Graded() || !render.WithinNoise(now, best) {
		return ""
	}
	return now.Sub(best).Signed() + " is within a grader's noise"
}

// joinRemarks puts what there is to say into one line.
func joinRemarks(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " — ")
}
