package score_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/score"
)

// anySide draws an outcome: some of four tasks, each run as often as it is said, or less
// where `odd` is; some runs have a judge, costs, a composite of their own.
func anySide(chance *rand.Rand, runs int, odd bool) format.SuiteOutcome {
	number := func(texts ...string) *metric.Number {
		if chance.IntN(3) == 0 {
			return nil
		}
		n := metric.NumberOf(metric.MustValue(texts[chance.IntN(len(texts))]))
		return &n
	}
	var o format.SuiteOutcome
	for i := range 4 {
		if odd && chance.IntN(5) == 0 {
			continue
		}
		s := format.Score{TaskID: fmt.Sprint("t", i)}
		if chance.IntN(4) == 0 {
			s.JudgeWeight = new(metric.MustValue([]string{"0", "0.3", "1"}[chance.IntN(3)]))
		}
		judges, many := chance.IntN(2) == 0, runs
		if odd && chance.IntN(6) == 0 {
			many = 1
		}
		for range many {
			total := chance.IntN(4)
			run := format.Run{
				Objective: format.Passed(chance.IntN(total+1), total),
				Cost: format.Cost{
					Tokens: number("0", "100", "250"), USD: number("0.5", "2"),
					WallClockMs: number("1000", "4000"),
				},
			}
			if judges && (!odd || chance.IntN(8) > 0) {
				run.Judge = &format.Judgement{
					Score: metric.NumberOf(metric.MustValue([]string{"0", "0.5", "1"}[chance.IntN(3)])),
					Model: []string{"m", "m", "m", "n"}[chance.IntN(4)],
				}
			}
			if chance.IntN(5) == 0 {
				run.Composite = number("0", "0.4", "1")
			}
			if odd && chance.IntN(25) == 0 {
				run.Objective.Total = metric.NonFinite()
			}
			s.Runs = append(s.Runs, run)
		}
		o.Scores = append(o.Scores, s)
	}
	return o
}

// better is an outcome of which every check passes.
func better(o format.SuiteOutcome) format.SuiteOutcome {
	o.Scores = slices.Clone(o.Scores)
	for i := range o.Scores {
		o.Scores[i].Runs = slices.Clone(o.Scores[i].Runs)
		for k := range o.Scores[i].Runs {
			o.Scores[i].Runs[k].Objective.Passed = o.Scores[i].Runs[k].Objective.Total
		}
	}
	return o
}

// TestAnyComparisonAddsUp: whatever two outcomes are, the verdict follows from what is
// listed, the totals from the tasks, and the net gain from their deltas.
func TestAnyComparisonAddsUp(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(171, 172))
	verdicts := map[decision.Verdict]int{}
	for round := range 250 {
		runs := 1 + chance.IntN(4)
		baseline, candidate := anySide(chance, runs, round%2 == 0), anySide(chance, runs, round%2 == 0)
		if round%3 == 0 {
			candidate = better(baseline)
		}
		set := score.DefaultThresholds()
		set.Shared, set.NetLossIsRegression = chance.IntN(3) == 0, chance.IntN(2) == 0
		got := score.Compare(baseline, candidate, set)
		verdicts[got.Verdict]++
		says := fmt.Sprintf("round %d: %s", round, got.Summary)

		require.Equal(t, len(got.Regressions) > 0, got.Verdict == decision.Regressed, says)
		require.True(t, !got.Promotable || got.Verdict == decision.Improved, says)
		if got.Verdict == decision.Improved {
			require.NotNil(t, got.NetGain, says)
			require.Positive(t, got.NetGain.Cmp(set.MinCompositeGain), says)
			require.True(t, runs == 1 || *got.PValue <= 0.025, says)
		}
		require.Equal(t, len(baseline.Scores), got.Totals.Tasks)
		require.Equal(t, got.Totals.Tasks, got.Totals.Improved+got.Totals.Neutral+got.Totals.Regressed, says)
		require.Len(t, got.Deltas, got.Totals.Tasks+len(got.Totals.CandidateOnly))

		sum, known := new(big.Rat), true
		for i, d := range got.Deltas {
			named := slices.ContainsFunc(got.Regressions, func(r score.Reason) bool { return r.Task == d.TaskID })
			require.Equal(t, named, d.Regressed, "%s: %s", says, d.TaskID)
			require.Equal(t, named, d.Verdict == decision.Regressed, says)
			if i >= got.Totals.Tasks {
				require.Nil(t, d.Composite, "what the candidate alone has is no gain")
				continue
			}
			if d.Composite == nil {
				known = false
				continue
			}
			sum.Add(sum, d.Composite.Rat())
			require.LessOrEqual(t, d.Composite.Abs().Cmp(metric.FromInt(1)), 0, says)
			if d.PValue != nil {
				require.Negative(t, d.Composite.Sign(), says)
				require.True(t, *d.PValue > 0 && *d.PValue <= 1, says)
			}
			if d.CandidateComposite != nil {
				require.Zero(t, new(big.Rat).Sub(d.CandidateComposite.Rat(),
					d.BaselineComposite.Rat()).Cmp(d.Composite.Rat()), says)
			}
		}
		require.Equal(t, known, got.NetGain != nil, says)
		if known {
			require.Zero(t, sum.Cmp(got.NetGain.Rat()), says)
		}
		require.Equal(t, got.PValue != nil, known && max(baseline.Runs(), candidate.Runs()) > 1, says)

		again := score.Compare(baseline, candidate, set)
		require.Equal(t, got, again, "the same outcomes, the same verdict")
		text, err := json.Marshal(got)
		require.NoError(t, err)
		require.True(t, json.Valid(text))
		require.NotContains(t, got.Summary, "\n")
	}
	for _, verdict := range []decision.Verdict{decision.Improved, decision.Neutral, decision.Regressed} {
		assert.GreaterOrEqual(t, verdicts[verdict], 8, "%s", verdict)
	}
}

// TestBrokenOutcomeIsNeverBetter: a task more counts for nothing, and a candidate that lost a
// task, or has a number that is none, is never better than it was.
func TestBrokenOutcomeIsNeverBetter(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(175, 176))
	for round := range 30 {
		runs := 1 + chance.IntN(3)
		baseline, candidate := anySide(chance, runs, false), anySide(chance, runs, false)
		got := score.Compare(baseline, candidate, score.DefaultThresholds())
		change := func(how func(o *format.SuiteOutcome)) score.Comparison {
			other := candidate
			other.Scores = slices.Clone(candidate.Scores)
			for i := range other.Scores {
				other.Scores[i].Runs = slices.Clone(other.Scores[i].Runs)
			}
			how(&other)
			return score.Compare(baseline, other, score.DefaultThresholds())
		}
		which, run := chance.IntN(4), chance.IntN(runs)
		more := change(func(o *format.SuiteOutcome) {
			s := format.Score{TaskID: "more"}
			for range runs {
				s.Runs = append(s.Runs, format.Run{
					Objective: format.Passed(9, 9),
					Cost:      format.Cost{Tokens: new(metric.NumberFromInt(0))},
				})
			}
			o.Scores = slices.Insert(o.Scores, which, s)
		})
		require.Equal(t, []string{"more"}, more.Totals.CandidateOnly)
		require.Equal(t, got.Verdict, more.Verdict, "round %d", round)
		require.Equal(t, got.Promotable, more.Promotable)
		require.Equal(t, got.NetGain.String(), more.NetGain.String())
		require.Equal(t, got.Deltas, more.Deltas[:len(got.Deltas)])
		for name, how := range map[string]func(o *format.SuiteOutcome){
			"a task less":      func(o *format.SuiteOutcome) { o.Scores = slices.Delete(o.Scores, which, which+1) },
			"a task twice":     func(o *format.SuiteOutcome) { o.Scores = append(o.Scores, o.Scores[which]) },
			"a task of no run": func(o *format.SuiteOutcome) { o.Scores[which].Runs = nil },
			"a total of NaN": func(o *format.SuiteOutcome) {
				o.Scores[which].Runs[run].Objective.Total = metric.NonFinite()
			},
			"a cost of NaN": func(o *format.SuiteOutcome) {
				o.Scores[which].Runs[run].Cost.Steps = new(
					metric.NonFinite())
			},
			"a composite of NaN": func(o *format.SuiteOutcome) {
				o.Scores[which].Runs[run].Composite = new(
					metric.NonFinite())
			},
			"a judge of NaN": func(o *format.SuiteOutcome) {
				o.Scores[which].Runs[run].Judge = &format.Judgement{Score: metric.NonFinite()}
			},
			"NaN somewhere": func(o *format.SuiteOutcome) { o.NonFiniteAt = "extra.a" },
		} {
			worse := change(how)
			require.Equal(t, decision.Regressed, worse.Verdict, "round %d, %s", round, name)
			require.False(t, worse.Promotable)
		}
	}
}

// TestOrderOfTasksAndRunsDecidesNothing, and a side beside itself is neutral, whatever it is.
func TestOrderOfTasksAndRunsDecidesNothing(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(173, 174))
	mixed := func(o format.SuiteOutcome) format.SuiteOutcome {
		o.Scores = slices.Clone(o.Scores)
		chance.Shuffle(len(o.Scores), func(a, b int) { o.Scores[a], o.Scores[b] = o.Scores[b], o.Scores[a] })
		for k := range o.Scores {
			runs := slices.Clone(o.Scores[k].Runs)
			chance.Shuffle(len(runs), func(a, b int) { runs[a], runs[b] = runs[b], runs[a] })
			o.Scores[k].Runs = runs
		}
		return o
	}
	for range 60 {
		runs := 1 + chance.IntN(2) // so that all arrangements are counted
		baseline, candidate := anySide(chance, runs, true), anySide(chance, runs, true)
		want := score.Compare(baseline, candidate, score.DefaultThresholds())
		got := score.Compare(mixed(baseline), mixed(candidate), score.DefaultThresholds())
		require.Equal(t, want.Verdict, got.Verdict, "%s and %s", want.Summary, got.Summary)
		assert.Equal(t, want.Promotable, got.Promotable)
		assert.Equal(t, want.NetGain, got.NetGain)
		assert.ElementsMatch(t, want.Regressions, got.Regressions)
		assert.ElementsMatch(t, want.Notes, got.Notes)

		side := anySide(chance, 1+chance.IntN(4), false)
		same := score.Compare(side, mixed(side), score.DefaultThresholds())
		assert.Equal(t, decision.Neutral, same.Verdict, same.Summary)
		assert.Empty(t, same.Regressions)
		assert.Empty(t, same.Improvements)
		assert.Zero(t, same.NetGain.Sign())
	}
}
