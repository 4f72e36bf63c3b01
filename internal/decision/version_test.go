package decision_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
)

// TestAVersionDecidesAsEver has what each version of the rule makes of the same runs. A
// version never changes: what it decided is decided again when a record is checked. Who
// has to change a line of this table changes what old records mean; a new rule is a new
// version.
func TestAVersionDecidesAsEver(t *testing.T) {
	t.Parallel()
	measure := func(gain int64) func(decision.Step) metric.Measurement {
		runs := int64(0)
		return func(step decision.Step) metric.Measurement {
			runs++
			v := metric.FromInt(100 + runs*37%11)
			switch step.Side { //nolint:exhaustive // the incumbent is as it is
			case decision.Candidate:
				v = v.Add(metric.FromInt(gain))
			case decision.Emptied, decision.Garbled:
				v = metric.FromInt(3)
			}
			return metric.Measurement{Metric: &v}
		}
	}
	rows := []struct {
		version, pairs, most int
		seed                 string
		gain                 int64
		runs, says           string
	}{
		{1, 4, 0, "", 20, "icICCIICCIciCIICCIIC", "improved: better: median 125.5 beside 105.5, difference +20 (95 % interval 12 to 28), p = 0.029, 4 pairs"},
		{1, 8, 16, "", 5, "icICCIICCIICCIICCIciCIICCIICCIICCIIC", "improved: better: median 109 beside 104.5, difference +4.5 (95 % interval 1 to 8), p = 0.041, 8 pairs"},
		{1, 8, 16, "", 8, "icICCIICCIICCIICCIciCIICCIICCIICCIIC", "improved: better: median 112 beside 104.5, difference +7.5 (95 % interval 4 to 11), p = 0.0044, 8 pairs"},
		{2, 4, 0, "seed", 20, "icICICCCIIciCCICIIIC", "improved: better: median 125.5 beside 105.5, difference +20 (95 % interval 11 to 27), p = 0.029, 4 pairs"},
		{2, 8, 16, "another", 3, "ciCICCII", "neutral: not better after 3 pairs: median 105 beside 106"},
		{3, 8, 16, "a third", 3, "ciCICCII", "neutral: not better after 3 pairs: median 105 beside 106"},
		{2, 8, 16, "another", 4, "ciCICCII", "neutral: not better after 3 pairs: median 106 beside 106"},
		{3, 8, 16, "a third", 4, "ciCICCII", "neutral: not better after 3 pairs: median 106 beside 106"},
		{2, 8, 16, "another", 5, "ciCICCIIIICCCCIIICICCCIIIICCCIICICicICIICCICIICCIICC", "improved: better: median 110.5 beside 105.5, difference +5 (95 % interval 1 to 9), p = 0.021, 8 pairs"},
		{3, 8, 16, "a third", 5, "ciCICCIICIICICICICICCCIIICICCCIIICciCCIICIIICCCCICII", "improved: better: median 110 beside 106, difference +4 (95 % interval 1 to 9), p = 0.023, 8 pairs"},
		{2, 8, 16, "another", 6, "ciCICCIIIICCCCIIICicICIICC", "neutral: not confirmed: not better after 3 pairs: median 107 beside 107"},
		{3, 8, 16, "a third", 6, "ciCICCIICIICICICICciCCIICIIICCCCICII", "improved: better: median 111 beside 104.5, difference +6.5 (95 % interval 2 to 10), p = 0.0048, 8 pairs"},
		{2, 8, 0, "another", 5, "ciCICCIIIICCCCIIIC", "neutral: inconclusive: median 108 beside 105.5, difference +2.5 (95 % interval 0 to 7), p = 0.11, 8 pairs"},
		{2, 12, 0, "seed", 9, "icICCCIIICCICIICIICCCICIICciCIIICCCICICCIICCCICIICII", "improved: better: median 113 beside 107.5, difference +5.5 (95 % interval 3 to 8), p = 0.00014, 12 pairs"},
		{3, 4, 0, "seed", 4000, "icICICCCIIciCCICIIICEEE", "improved: better: median 4105.5 beside 105.5, difference +4000 (95 % interval 3991 to 4007), p = 0.029, 4 pairs"},
		{3, 8, 16, "seed", 6, "icICCCIICICIICCIICICCICICCICICIIICciCIIICCIICICICCCI", "improved: better: median 110.5 beside 106.5, difference +4 (95 % interval 1 to 9), p = 0.014, 8 pairs"},
		{2, 6, 0, "seed", -4, "icICCCII", "neutral: not better after 3 pairs: median 101 beside 106"},
		{2, 16, 0, "sixteen", 9, "ciCCIIICCICICCIIIICCICICIIICICCICCicICICCIIICICCCIIIICICCCCIIICCCICI", "improved: better: median 114.5 beside 104, difference +10.5 (95 % interval 8 to 13), p = 1.6e-07, 16 pairs"},
		{4, 8, 16, "a third", 3, "ciCICCII", "neutral: not better after 3 pairs: median 105 beside 106"},
		{4, 8, 16, "a third", 5, "ciCICCIICIICICICICICCCIIICICCCIIICciCCIICIIICCCCICII", "improved: better: median 110 beside 106, difference +4 (95 % interval 1 to 9), p = 0.023, 8 pairs"},
		{4, 4, 0, "seed", 4000, "icICICCCIIciCCICIIICEEE", "improved: better: median 4105.5 beside 105.5, difference +4000 (95 % interval 3991 to 4007), p = 0.029, 4 pairs"},
		{4, 8, 16, "seed", 6, "icICCCIICICIICCIICICCICICCICICIIICciCIIICCIICICICCCI", "improved: better: median 110.5 beside 106.5, difference +4 (95 % interval 1 to 9), p = 0.014, 8 pairs"},
	}
	have := map[int]bool{}
	for _, c := range rows {
		have[c.version] = true
	}
	for version := range decision.Known() {
		assert.True(t, have[version], "give version %d its rows", version)
	}
	for _, c := range rows {
		t.Run(fmt.Sprintf("version %d, %d to %d pairs, seed %q, gain %d", c.version, c.pairs, c.most, c.seed, c.gain), func(t *testing.T) {
			t.Parallel()
			standard := noisy("100")
			standard.Version, standard.Pairs, standard.MaxPairs, standard.Seed, standard.CheckTooGood = c.version, c.pairs, c.most, c.seed, true
			made, runs := play(standard, measure(c.gain))
			assert.Equal(t, c.runs, runs)
			assert.Equal(t, c.says, fmt.Sprintf("%s: %s", made.Verdict, made.Reasons[0]))
		})
	}
}

func TestVersionsOfTheRule(t *testing.T) {
	t.Parallel()
	known := decision.Known()
	assert.Len(t, known, decision.Latest)
	_, err := known.NewTrial(decision.Standard{Rule: decision.Rule{Version: decision.Latest + 1}, Seed: "s"})
	require.ErrorContains(t, err, fmt.Sprintf("version %d of the rule is not known here: use a newer autoloop", decision.Latest+1))
	assert.Panics(t, func() { decision.NewTrial(decision.Standard{Rule: decision.Rule{Version: 99}}) })
	_, err = known.NewTrial(decision.Standard{})
	require.NoError(t, err, "no version is the first, which needs no seed")
	for version := 2; version <= decision.Latest; version++ {
		_, err = known.NewTrial(decision.Standard{Rule: decision.Rule{Version: version}})
		require.ErrorContains(t, err, "no seed is recorded", version)
	}

	asked := decision.Rule{Pairs: 8, MaxPairs: 16, Confidence: 0.95, CheckTooGood: true, NoCaseRegression: true}
	for version, want := range map[int][2]any{0: {0, false}, 1: {0, false}, 2: {16, false}, 3: {16, true}} {
		rule := asked.In(version)
		assert.Equal(t, want, [2]any{rule.MaxPairs, rule.CheckTooGood}, "version %d", version)
		assert.Equal(t, version, rule.Version)
		assert.True(t, rule.NoCaseRegression, "every version knows it")
		asked.CheckTooGood = true
	}
	asked.CheckTooGood = false
	assert.False(t, asked.In(3).CheckTooGood, "what was not asked for is not begun")
}

// TestTheChanceOfAFalseAlarmIsShared: a stage that may get more pairs has two looks, which
// together have the chance that one would have.
func TestTheChanceOfAFalseAlarmIsShared(t *testing.T) {
	t.Parallel()
	for version, rule := range decision.Known() {
		for _, confidence := range []float64{0.9, 0.95, 0.99} {
			standard := decision.Standard{Rule: decision.Rule{Pairs: 8, Confidence: confidence}}
			for _, most := range []int{0, 7, 8} {
				standard.MaxPairs = most
				assert.InDelta(t, 1-confidence, rule.Level(standard, 8), 1e-12, "version %d, at most %d pairs", version, most)
			}
			if !rule.Extends {
				continue
			}
			standard.MaxPairs = 16
			early, late := rule.Level(standard, 8), rule.Level(standard, 16)
			assert.InDelta(t, 1-confidence, early+late, 1e-12)
			assert.InDelta(t, 0.6*(1-confidence), early, 1e-12)
		}
	}
}
