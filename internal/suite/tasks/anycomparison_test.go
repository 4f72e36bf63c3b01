package tasks_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/tasks"
)

// anySide draws an outcome: some of four tasks, each run as often as it is said, or less
// where it is odd; some runs have a judge, costs, a composite of their own.
func anySide(chance *rand.Rand, runs int, odd bool) string {
	pick := func(words ...string) string { return words[chance.IntN(len(words))] + " " }
	var tasks []string
	for id := range 4 {
		if odd && chance.IntN(5) == 0 {
			continue
		}
		weight, judges, many := pick(
			"-",
			"-",
			"-",
			"-",
			"-",
			"-",
			"-",
			"-",
			"-",
			"w0",
			"w0.3",
			"w1",
		), chance.IntN(
			2,
		), runs
		if odd && chance.IntN(6) == 0 {
			many = 1
		}
		var list []string
		for range many {
			run := weight + pick(
				"0/0",
				"0/1",
				"1/1",
				"0/2",
				"1/2",
				"2/2",
				"1/3",
				"3/3",
			) + pick(
				"-",
				"t0",
				"t100",
				"t250",
			) +
				pick(
					"-",
					"$0.5",
					"$2",
				) + pick(
				"-",
				"m1000",
				"m4000",
			) +
				pick(
					"-",
					"-",
					"-",
					"-",
					"-",
					"-",
					"-",
					"-",
					"-",
					"-",
					"-",
					"-",
					"=0",
					"=0.4",
					"=1",
				)
			if judges == 1 && (!odd || chance.IntN(8) > 0) {
				run += pick("j0", "j0.5", "j1", "@m", "@m", "@m", "@n")
			}
			if odd && chance.IntN(25) == 0 {
				run += "0/NaN"
			}
			list = append(list, run)
		}
		tasks = append(tasks, fmt.Sprintf("t%d: %s", id, strings.Join(list, ",")))
	}
	return strings.Join(tasks, ";")
}

// TestAnyComparisonAddsUp: whatever two outcomes are, the verdict follows from what is
// listed, the totals from the tasks, and the net gain from their deltas.
func TestAnyComparisonAddsUp(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(171, 172))
	verdicts := map[decision.Verdict]int{}
	for round := range 250 {
		runs := 1 + chance.IntN(4)
		before, after := anySide(chance, runs, round%2 == 0), anySide(chance, runs, round%2 == 0)
		baseline, candidate := side(t, before), side(t, after)
		if round%3 == 0 { // the same, of which every check passes
			candidate = side(t, before)
			for _, s := range candidate.Scores {
				for k := range s.Runs {
					s.Runs[k].Objective.Passed = s.Runs[k].Objective.Total
				}
			}
		}
		set := tasks.DefaultThresholds()
		baseline.Interleaved, set.NetLossIsRegression = new(chance.IntN(3) != 0), chance.IntN(2) == 0
		got := tasks.Compare(baseline, candidate, set)
		verdicts[got.Verdict]++
		says := fmt.Sprintf("round %d: %s -> %s: %s", round, before, after, got.Summary)

		require.Equal(t, len(got.Regressions) > 0, got.Verdict == decision.Regressed, says)
		require.True(t, !got.Promotable || got.Verdict == decision.Improved, says)
		if got.Verdict == decision.Improved {
			require.NotNil(t, got.NetGain, says)
			require.Positive(t, got.NetGain.Cmp(set.MinCompositeGain), says)
			require.True(t, got.PValue == nil || *got.PValue <= 0.025, says)
		}
		require.Equal(t, len(baseline.Scores), got.Totals.Tasks)
		require.Equal(t, got.Totals.Tasks, got.Totals.Improved+got.Totals.Neutral+got.Totals.Regressed, says)
		require.Len(t, got.Deltas, got.Totals.Tasks+len(got.Totals.CandidateOnly))

		sum, known := new(big.Rat), true
		for i, d := range got.Deltas {
			named := slices.ContainsFunc(got.Regressions, func(r tasks.Reason) bool { return r.Task == d.TaskID })
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
				require.Zero(t, d.CandidateComposite.Sub(*d.BaselineComposite).Cmp(*d.Composite), says)
			}
		}
		require.Equal(t, known, got.NetGain != nil, says)
		require.True(t, !known || sum.Cmp(got.NetGain.Rat()) == 0, says)
		require.Equal(t, got.PValue != nil, known && max(baseline.Runs(), candidate.Runs()) > 1, says)
		require.Equal(t, got, tasks.Compare(baseline, candidate, set), "the same outcomes, the same verdict")
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
		before, after := anySide(chance, runs, false), anySide(chance, runs, false)
		which, run := chance.IntN(4), chance.IntN(runs)
		changed := func(how func(o *tasks.SuiteOutcome, r *tasks.Run)) tasks.Comparison {
			candidate := side(t, after)
			how(&candidate, &candidate.Scores[which].Runs[run])
			return tasks.Compare(side(t, before), candidate, tasks.DefaultThresholds())
		}
		got := changed(func(*tasks.SuiteOutcome, *tasks.Run) {})
		more := changed(func(o *tasks.SuiteOutcome, _ *tasks.Run) {
			o.Scores = slices.Insert(o.Scores, which, side(t, fmt.Sprintf("more: %d*9/9 t0", runs)).Scores...)
		})
		require.Equal(t, []string{"more"}, more.Totals.CandidateOnly)
		require.Equal(t, got.Verdict, more.Verdict, "round %d", round)
		require.Equal(t, got.Promotable, more.Promotable)
		require.Equal(t, got.NetGain.String(), more.NetGain.String())
		require.Equal(t, got.Deltas, more.Deltas[:len(got.Deltas)])
		for name, how := range map[string]func(o *tasks.SuiteOutcome, r *tasks.Run){
			"a task less": func(o *tasks.SuiteOutcome, _ *tasks.Run) {
				o.Scores = slices.Delete(o.Scores, which, which+1)
			},
			"a task of no run": func(o *tasks.SuiteOutcome, _ *tasks.Run) { o.Scores[which].Runs = nil },
			"a number of NaN":  func(_ *tasks.SuiteOutcome, r *tasks.Run) { r.NonFinite = "cost.steps" },
			"NaN somewhere":    func(o *tasks.SuiteOutcome, _ *tasks.Run) { o.NonFiniteAt = "extra.a" },
		} {
			worse := changed(how)
			require.Equal(t, decision.Regressed, worse.Verdict, "round %d, %s", round, name)
			require.False(t, worse.Promotable)
		}
	}
}

// TestOrderOfTasksAndRunsDecidesNothing, and a side beside itself is neutral, whatever it is.
func TestOrderOfTasksAndRunsDecidesNothing(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(173, 174))
	mixed := func(text string) tasks.SuiteOutcome {
		o := side(t, text)
		chance.Shuffle(len(o.Scores), func(a, b int) { o.Scores[a], o.Scores[b] = o.Scores[b], o.Scores[a] })
		for _, s := range o.Scores {
			chance.Shuffle(len(s.Runs), func(a, b int) { s.Runs[a], s.Runs[b] = s.Runs[b], s.Runs[a] })
		}
		return o
	}
	for range 60 {
		runs := 1 + chance.IntN(2) // so that all arrangements are counted
		before, after := anySide(chance, runs, true), anySide(chance, runs, true)
		want, got := compare(t, before+"->"+after, tasks.DefaultThresholds()), tasks.Compare(mixed(before), mixed(after), tasks.DefaultThresholds())
		require.Equal(t, want.Verdict, got.Verdict, "%s and %s", want.Summary, got.Summary)
		assert.Equal(t, want.Promotable, got.Promotable)
		assert.Equal(t, want.NetGain, got.NetGain)
		assert.ElementsMatch(t, want.Regressions, got.Regressions)
		assert.ElementsMatch(t, want.Notes, got.Notes)

		text := anySide(chance, 1+chance.IntN(4), false)
		same := tasks.Compare(side(t, text), mixed(text), tasks.DefaultThresholds())
		assert.Equal(t, decision.Neutral, same.Verdict, same.Summary)
		assert.Empty(t, same.Regressions)
		assert.Empty(t, same.Improvements)
		assert.Zero(t, same.NetGain.Sign())
	}
}

func FuzzCompare(f *testing.F) {
	for _, text := range []string{
		`[{"taskId": "a", "objective": {"passed": 1, "total": 2}, "judge": {"score0to1": 0.5}, "cost": {"tokens": ` +
			`1e308}}]`,
		`[{"taskId": "a", "objective": {"passed": null, "total": 1e999}, "composite": null}]`, "[]",
	} {
		f.Add([]byte(`{"scores": `+text+"}"),
			[]byte(fmt.Sprintf(`{"runs": [{"scores": %s}, {"scores": %s}]}`, text, text)))
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		baseline, bad := tasks.ParseOutcome("a", before)
		candidate, worse := tasks.ParseOutcome("b", after)
		if bad != nil || worse != nil {
			return
		}
		got := tasks.Compare(baseline, candidate, tasks.DefaultThresholds())
		if got.Promotable {
			assert.Empty(t, got.Regressions)
			assert.Positive(t, got.NetGain.Sign())
		}
		_, err := json.Marshal(got)
		assert.NoError(t, err)
	})
}
