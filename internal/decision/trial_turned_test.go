package decision_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
)

// drawnTrial is a standard, and what its sides measure, drawn at random: numbers with and
// without ties, gains and losses, thresholds and guardrails.
type drawnTrial struct {
	standard decision.Standard
	gain     int64
	noise    int64
	seed     uint64
}

func drawTrial(seed uint64) drawnTrial {
	chance := rand.New(rand.NewPCG(seed, 71))
	regime := []decision.Regime{
		decision.Single, decision.Repeatable, decision.Noisy, decision.Noisy,
		decision.Noisy,
	}[chance.IntN(5)]
	rule := decision.Rule{
		Regime: regime, Pairs: 4 + chance.IntN(6), Confidence: 0.95,
		CheckTooGood: chance.IntN(2) == 0,
	}
	if chance.IntN(2) == 0 {
		rule.MaxPairs = 2 * rule.Pairs
	}
	if chance.IntN(3) == 0 {
		rule.MinImprovement = decision.Allowance{Value: metric.FromInt(chance.Int64N(8)), Percent: chance.IntN(2) == 0}
	}
	low, high, target := metric.FromInt(0), metric.FromInt(120+chance.Int64N(100)),
		metric.FromInt(100+chance.Int64N(20))
	standard := decision.Standard{
		Rule: rule, Direction: metric.Higher, Best: value("100"), Target: &target,
		Seed: fmt.Sprint("seed", seed),
	}
	standard.Low, standard.High = &low, &high
	if chance.IntN(2) == 0 {
		standard.Guardrails = []decision.Guardrail{{
			Metric: "size", Direction: metric.Lower,
			MaxRegression: decision.Allowance{Value: metric.FromInt(chance.Int64N(9)), Percent: chance.IntN(2) == 0},
		}}
		standard.Initial = map[string][]metric.Value{"size": numbers("48 50 50 51 49 50 52 50")[:1+chance.IntN(8)]}
	}
	if chance.IntN(3) == 0 {
		standard.Gains = numbers("1 2 1")
	}
	gain := chance.Int64N(60) - 15
	if chance.IntN(6) == 0 {
		gain, standard.High = 2000, nil // too good
	}
	return drawnTrial{standard, gain, chance.Int64N(12), seed}
}

// play runs the trial with every number taken through turn.
func (d drawnTrial) play(standard decision.Standard, turn func(metric.Value) metric.Value) (decision.Decision, string) {
	chance := rand.New(rand.NewPCG(d.seed, 72))
	return play(standard, func(step decision.Step) metric.Measurement {
		v, size := 100+chance.Int64N(d.noise+1), 48+chance.Int64N(8)
		if step.Side == decision.Candidate {
			v += d.gain
		}
		key := turn(metric.FromInt(v))
		return metric.Measurement{Metric: &key, Numbers: map[string]metric.Value{"size": turn(metric.FromInt(size))}}
	})
}

func negative(v metric.Value) metric.Value { return metric.Value{}.Sub(v) }

// turned is the standard for numbers with the other sign, in the other direction.
func turned(s decision.Standard) decision.Standard {
	opposite := map[metric.Direction]metric.Direction{metric.Higher: metric.Lower, metric.Lower: metric.Higher}
	of := func(v *metric.Value) *metric.Value {
		if v == nil {
			return nil
		}
		turned := negative(*v)
		return &turned
	}
	s.Direction, s.Best, s.Target, s.Low, s.High = opposite[s.Direction], of(s.Best), of(s.Target),
		of(s.High), of(s.Low)
	initial := map[string][]metric.Value{}
	for name, samples := range s.Initial {
		for _, v := range samples {
			initial[name] = append(initial[name], negative(v))
		}
	}
	s.Initial = initial
	rails := make([]decision.Guardrail, len(s.Guardrails))
	for i, rail := range s.Guardrails {
		rail.Direction = opposite[rail.Direction]
		rails[i] = rail
	}
	s.Guardrails = rails
	return s
}

// same asserts that two trials went the same way.
func same(t *testing.T, want, got decision.Decision, what string) {
	t.Helper()
	require.Equal(t, want.Verdict, got.Verdict, "%s: %v and %v", what, want.Reasons, got.Reasons)
	assert.Equal(t, want.Inconclusive, got.Inconclusive, what)
	assert.Equal(t, want.Fault == nil, got.Fault == nil, what)
	assert.Equal(t, want.TargetMet, got.TargetMet, what)
	require.Len(t, got.Evidence, len(want.Evidence), what)
	for i, e := range want.Evidence {
		assert.Equal(t, e.Stage, got.Evidence[i].Stage, what)
		assert.Equal(t, e.Pairs, got.Evidence[i].Pairs, what)
		assert.InDelta(t, e.P, got.Evidence[i].P, 1e-9, what)
	}
}

// TestHigherAndLowerAreDecidedAlike plays trials again with every number's sign and every
// direction turned: the verdict is the same.
func TestHigherAndLowerAreDecidedAlike(t *testing.T) {
	t.Parallel()
	verdicts, inconclusive, held, broken := map[decision.Verdict]int{}, 0, 0, 0
	for seed := range uint64(300) {
		trial := drawTrial(seed)
		d, runs := trial.play(trial.standard, func(v metric.Value) metric.Value { return v })
		mirrored, again := trial.play(turned(trial.standard), negative)
		require.Equal(t, runs, again, "trial %d", seed)
		same(t, d, mirrored, fmt.Sprintf("trial %d", seed))
		assert.Equal(t, d.Held == nil, mirrored.Held == nil)
		verdicts[d.Verdict]++
		if d.Inconclusive {
			inconclusive++
		}
		if d.Held != nil {
			held++
		}
		if d.Reasons[0].Is(decision.GuardrailBroken, decision.GuardrailMissing, decision.GuardrailNew) {
			broken++
		}
	}
	for _, verdict := range []decision.Verdict{decision.Improved, decision.Neutral, decision.Regressed} {
		assert.Greater(t, verdicts[verdict], 20, "%v", verdicts)
	}
	assert.Greater(t, inconclusive, 3)
	assert.Greater(t, held, 5)
	assert.Greater(t, broken, 10)
}

// TestAVerdictHasNoUnit plays trials again in another unit, with another zero.
func TestAVerdictHasNoUnit(t *testing.T) {
	t.Parallel()
	scaled := func(v metric.Value) metric.Value { return v.Mul(metric.MustValue("0.001")) }
	other := func(v metric.Value) metric.Value { return scaled(v).Sub(metric.FromInt(1000)) }
	verdicts := map[decision.Verdict]int{}
	for seed := range uint64(160) {
		trial := drawTrial(seed)
		s := trial.standard
		s.CheckTooGood, s.MinImprovement.Percent = false, false // both ask how far a number is from 0
		s.Guardrails, s.Low, s.High, s.Target, s.Gains = nil, nil, nil, nil, nil
		d, runs := trial.play(s, func(v metric.Value) metric.Value { return v })
		best := other(*s.Best)
		s.Best, s.MinImprovement.Value = &best, scaled(s.MinImprovement.Value)
		moved, again := trial.play(s, other)
		require.Equal(t, runs, again, "trial %d", seed)
		same(t, d, moved, fmt.Sprintf("trial %d", seed))
		verdicts[d.Verdict]++
	}
	assert.Len(t, verdicts, 3, "%v", verdicts)
}
