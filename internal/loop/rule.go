package loop

import (
	"crypto/rand"
	"fmt"
	"math"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/program"
)

// rule is how a candidate of the program is decided now. `auto` believes a
// single run until two equal ones gave two numbers.
func (r *journal) rule() decision.Rule { return r.ruleOf(r.records) }

func (r *journal) ruleOf(b *records) decision.Rule {
	p, rule := r.program, AskedRule(r.program)
	if p.Runs == 0 && b.sum.Noisy {
		rule.Regime = decision.Noisy
	}
	if sum := &b.sum; p.Runs == 0 && Cost(2*rule.Pairs, sum.Seconds, sum.Prepare) <= p.Timeout {
		rule.MaxPairs = 2 * rule.Pairs
	}
	return rule
}

// AskedRule is the rule as a program's file asks for it, before anything is known of
// its evaluation.
func AskedRule(p *program.Program) decision.Rule {
	rule := decision.Rule{
		Version: decision.Latest, Regime: decision.Repeatable, Pairs: max(decision.DefaultPairs, statistics.RunsNeeded(p.Confidence)), Confidence: p.Confidence,
		MinImprovement: decision.Allowance(p.MinImprovement), NoCaseRegression: p.NoCaseRegression, CheckTooGood: p.Evaluation == program.Metric,
	}
	switch {
	case p.Runs == 1:
		rule.Regime = decision.Single
	case p.Runs > 1:
		rule.Regime, rule.Pairs = decision.Noisy, p.Runs
	}
	if p.Range != nil {
		rule.Low, rule.High = &p.Range.Min, &p.Range.Max
	}
	for _, rail := range p.Guardrails {
		rule.Guardrails = append(rule.Guardrails, decision.Guardrail{
			Metric: rail.Metric, Direction: rail.Direction, MaxRegression: decision.Allowance(rail.MaxRegression),
		})
	}
	return rule
}

// standard is what a candidate is held against now. The order of its runs is
// drawn here, after the agent worked, and is on record with the decision.
func (r *journal) standard(a *attempt) decision.Standard {
	sum := &r.records.sum
	a.seed = rand.Text()
	return decision.Standard{
		Seed: a.seed,
		Rule: r.rule(), Direction: r.program.Direction, Best: sum.Best, Target: r.target(r.records), Initial: sum.Guardrails, Gains: sum.Gains,
		Cases: decision.RatesOf(sum.Numbers),
	}
}

// Cost is how long a candidate of a noisy program takes to decide at most: two
// stages, each with a warm-up and the pairs on two sides, in new environments.
// Seconds are those of one run, prepare those of an environment.
func Cost(pairs int, seconds, prepare float64) time.Duration {
	return time.Duration((float64(4+4*pairs)*seconds + 4*prepare) * float64(time.Second))
}

// exceedsTimeLimit says why the repeats cannot fit the iteration's time, or "".
func (r *journal) exceedsTimeLimit(seconds, prepare float64) string {
	rule := r.rule()
	cost := Cost(rule.Pairs, seconds, prepare)
	if cost <= r.program.Timeout {
		return ""
	}
	return fmt.Sprintf("the evaluation is noisy, and %d pairs of runs with their confirmation take %.0f minutes (%d runs of %.3g s), more than timeout-minutes %.0f: "+
		"set `timeout-minutes: %.0f`, or make the evaluation faster or steadier",
		rule.Pairs, math.Ceil(cost.Minutes()), 4+4*rule.Pairs, seconds, r.program.Timeout.Minutes(), math.Ceil(cost.Minutes()*1.25))
}
