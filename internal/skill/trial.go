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
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/suite"
)

// Confidence is that of repeated runs.
const Confidence = 0.95

// incumbentRun begins the names of the directories of the best version's runs in
// an iteration.
const incumbentRun = "incumbent-"

// rule is how candidates are decided now: by single runs, by Runs pairs, or, for
// 0, by pairs once the suite gave two numbers for one version.
func (l *Loop) rule() decision.Rule {
	rule := decision.RuleOf(l.Program.Runs, Confidence)
	rule.NoCaseRegression = l.Program.NoCaseRegression
	if l.Program.Runs == 0 {
		rule.MaxPairs = 2 * rule.Pairs
		if l.noisy {
			rule.Regime = decision.Noisy
		}
	}
	return rule
}

// try measures candidate and best version as often as the rule asks. The row gets what was
// decided, and what is returned is to be said beside.
func (l *Loop) try(ctx context.Context, row *results.Row) (remarks string, err error) {
	rule, dir := l.rule(), l.Iteration(row.Iteration)
	if err := os.RemoveAll(dir); err != nil { // what an interrupted iteration left
		return "", err
	}
	record := &Runs{Schema: Schema, Incumbent: l.table.Best, Rule: rule.Version, Seed: rand.Text()}
	// The middle of several runs has a digit more than the score of one that is as good.
	best, runs := suite.RateValue(l.best.Rate.Rat()), map[decision.Side]int{}
	trial := decision.NewTrial(decision.Standard{
		Rule: rule, Seed: record.Seed, Direction: metric.Higher, Best: &best,
		Cases: ratesOf(l.best.Runs),
	})
	made, err := trial.Run(func(step decision.Step) (m metric.Measurement, err error) {
		runs[step.Side]++
		of, run, label := l.side(row.Iteration, step.Side, runs[step.Side])
		found, err := l.measure(ctx, label, of, filepath.Join(dir, run))
		if why, is := errors.AsType[fault](err); is && step.Side == decision.Incumbent {
			return m, fmt.Errorf("the best version, v%d, cannot be measured any more: %s", l.table.Best, string(why))
		}
		if err != nil {
			return m, err
		}
		record.Runs = append(record.Runs,
			SuiteRun{Dir: run, Side: string(step.Side), Stage: string(step.Stage), WarmUp: step.WarmUp, Score: found.Rate})
		return metric.Measurement{Metric: &found.Rate, Numbers: suite.CaseNumbers(found.Cases)}, nil
	})
	if why, is := errors.AsType[fault](err); is {
		return string(why), nil
	}
	if err != nil {
		return "", err
	}
	l.noisy = l.noisy || trial.Regime() == decision.Noisy
	row.Score = made.Metric
	said, single := decision.Texts(made.Reasons), rule.Regime == decision.Single
	if made.Verdict == decision.Improved {
		if row.Action = results.Kept; single { // the scores say that it is better; noise alone could have made that
			said[0] = "unverified: measured once"
		}
	}
	said = append(said, decision.Joined(made.Warning))
	if single {
		return joinRemarks(append(said, l.withinNoise(*row.Score))...), nil
	}
	return joinRemarks(said...), record.write(dir)
}

// side is what is measured of one side the time k: a directory, the one of the iteration's
// that the cases are left in, and what people call it. The first run of the candidate is the
// iteration's own.
func (l *Loop) side(n int, side decision.Side, k int) (dir, run, label string) {
	label = fmt.Sprint("iteration ", n)
	switch {
	case side == decision.Incumbent:
		return l.Version(l.table.Best), fmt.Sprint(incumbentRun, k),
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
	if !l.Suite.Graded() || !render.WithinNoise(now, l.best.Rate) {
		return ""
	}
	return now.Sub(l.best.Rate).Signed() + " is within a grader's noise"
}

// joinRemarks puts what there is to say into one line.
func joinRemarks(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " — ")
}
