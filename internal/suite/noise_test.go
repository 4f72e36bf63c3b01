package suite

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
)

// trueRate is what every expectation of the simulated suite passes with.
const trueRate = 0.75

// graded is one noisy evaluation of five cases with four expectations each.
func graded(random *rand.Rand) metric.Value {
	cases := make([]CaseScore, 5)
	for i := range cases {
		cases[i].Total = 4
		for range cases[i].Total {
			if random.Float64() < trueRate {
				cases[i].Passed++
			}
		}
	}
	return MeanPassRate(cases)
}

// keptOfNothing makes runs of at most five edits that change nothing, three
// reverts in a row being the end, and says in which
// part of them a rule keeps one, and by how much the reported best overstates the
// truth.
func keptOfNothing(random *rand.Rand, rule decision.Rule, runs int) (kept, over float64) {
	for range runs {
		best, some, reverts := graded(random), false, 0
		for edit := 0; edit < 5 && reverts < 3; edit++ {
			trial := decision.NewTrial(decision.Standard{Rule: rule, Direction: metric.Higher, Best: &best})
			for step, more := trial.Next(); more; step, more = trial.Next() {
				rate := graded(random)
				trial.Add(step, metric.Measurement{Metric: &rate})
			}
			if d := trial.Decision(); d.Verdict == decision.Improved {
				best, some, reverts = *d.Best, true, 0
			} else {
				reverts++
			}
		}
		if some {
			kept++
		}
		over += best.Float64() - trueRate
	}
	return kept / float64(runs), over / float64(runs)
}

func skillRules() map[string]decision.Rule {
	return map[string]decision.Rule{
		"plain": {Regime: decision.Single, Confidence: 0.95},
		"pairs": {Regime: decision.Noisy, Pairs: 8, Confidence: 0.95},
	}
}

func TestPairsKeepFewSkillsThatChangedNothing(t *testing.T) {
	t.Parallel()
	rules := skillRules()
	plain, over := keptOfNothing(rand.New(rand.NewPCG(1, 1)), rules["plain"], 400)
	assert.InDelta(t, 0.7, plain, 0.12)
	assert.Greater(t, over, 0.05)
	pairs, _ := keptOfNothing(rand.New(rand.NewPCG(1, 1)), rules["pairs"], 400)
	assert.Less(t, pairs, 0.05)
}

// BenchmarkSkillNoise prints how often five edits that change nothing are kept,
// and how much the reported best overstates the truth, in percent points.
func BenchmarkSkillNoise(b *testing.B) {
	for name, rule := range skillRules() {
		b.Run(name, func(b *testing.B) {
			kept, over := keptOfNothing(rand.New(rand.NewPCG(1, 2)), rule, max(b.N, 2000))
			b.ReportMetric(100*kept, "%-of-runs-keep")
			b.ReportMetric(100*over, "points-overstated")
		})
	}
}
