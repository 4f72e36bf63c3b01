package score_test

import (
	"fmt"
	"math"
	"math/bits"
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

// TestCompositeOfAnyRun holds the composite of drawn runs against its formula in floats:
// a tenth for costs, clamped, on six parts of checks and four, or the task's weight, of
// the judge.
func TestCompositeOfAnyRun(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(81, 82))
	number := func(of float64) *metric.Number {
		if chance.IntN(4) == 0 {
			return nil
		}
		n := metric.NumberFromFloat(math.Round(chance.Float64()*of*100) / 100)
		return &n
	}
	cost := func() format.Cost {
		return format.Cost{
			Tokens: number(9000), ToolCalls: number(3), Steps: number(5), WallClockMs: number(1e5),
			USD: number(2),
		}
	}
	float := func(n *metric.Number) float64 {
		v, _ := n.Value()
		return v.Float64()
	}
	for range 500 {
		total := chance.IntN(5)
		passed := chance.IntN(total + 1)
		run := format.Run{Objective: format.Passed(passed, total), Cost: cost()}
		reference := cost()
		tolerance := math.Round(chance.Float64()*30) / 100
		want := 1.0
		if total > 0 {
			want = float64(passed) / float64(total)
		}
		var weight *metric.Value
		if chance.IntN(2) == 0 {
			judge, part := math.Round(chance.Float64()*100)/100, 0.4
			run.Judge = &format.Judgement{Score: metric.NumberFromFloat(judge)}
			if chance.IntN(2) == 0 {
				part = []float64{0, 0.25, 1}[chance.IntN(3)]
				v, err := metric.FromFloat(part)
				require.NoError(t, err)
				weight = &v
			}
			want = (0.6*want + part*judge) / (0.6 + part)
		}
		ratios, known := 0.0, 0
		for i, spent := range run.Cost.Signals() {
			usual := reference.Signals()[i]
			if spent == nil || usual == nil {
				continue
			}
			known++
			ratio := 2.0
			if float(usual) > 0 {
				ratio = float(spent) / float(usual)
			} else if float(spent) == 0 {
				ratio = 1
			}
			if math.Abs(ratio-1) <= tolerance {
				ratio = 1
			}
			ratios += ratio
		}
		if known > 0 {
			want += 0.1 * max(-1, min(1, 1-ratios/float64(known)))
		}
		band, err := metric.FromFloat(tolerance)
		require.NoError(t, err)
		got, ok := score.Composite(run, &reference, weight, band)
		require.True(t, ok)
		require.InDelta(t, max(0, min(1, want)), got.Float64(), 1e-6, "%+v", run)
	}
}

// drawnSide draws composites of so many runs of each task, in hundredths.
func drawnSide(chance *rand.Rand, tasks, runs int, from, spread float64) [][]float64 {
	side := make([][]float64, tasks)
	for i := range side {
		for range runs {
			side[i] = append(side[i], math.Round(100*max(0, min(1, from+spread*chance.NormFloat64())))/100)
		}
	}
	return side
}

func meanOf(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}

// labelled splits the runs of a task by a choice of the candidate's, and returns the
// difference of the means, and that in standard errors.
func labelled(before, after []float64, chosen uint) (gain, clear float64) {
	var ours, theirs []float64
	for i, x := range slices.Concat(after, before) {
		if chosen>>i&1 == 1 {
			ours = append(ours, x)
		} else {
			theirs = append(theirs, x)
		}
	}
	squares := 0.0
	for _, group := range [][]float64{ours, theirs} {
		for _, x := range group {
			squares += math.Pow(x-meanOf(group), 2)
		}
	}
	n, m := float64(len(ours)), float64(len(theirs))
	deviation := math.Sqrt(squares / (n + m - 2) * (1/n + 1/m))
	gain = meanOf(ours) - meanOf(theirs)
	return gain, -gain / max(deviation, 1e-6)
}

// choices are all ways to say which of the runs are the candidate's.
func choices(before, after int) []uint {
	var list []uint
	for chosen := range uint(1) << (before + after) {
		if bits.OnesCount(chosen) == after {
			list = append(list, chosen)
		}
	}
	return list
}

const hair = 1e-9

// TestChancesAreCounted holds the probabilities of comparisons of two tasks against all
// ways to label their runs, within each task, or as whole runs of the suite.
func TestChancesAreCounted(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(91, 92))
	seen := 0
	for _, shared := range []bool{false, true} {
		for _, n := range [][2]int{{2, 2}, {3, 3}, {4, 3}, {2, 4}} {
			for range 6 {
				before, after := drawnSide(chance, 2, n[0], 0.5, 0.1), drawnSide(chance, 2, n[1], 0.55, 0.1)
				thresholds := score.DefaultThresholds()
				thresholds.Shared = shared
				got := score.Compare(repeated(before...), repeated(after...), thresholds)
				gain, drops := counted(before, after, shared)
				require.InDelta(t, gain, *got.PValue, hair, "%v beside %v, shared: %t", before, after, shared)
				for i, d := range got.Deltas {
					if d.PValue != nil {
						seen++
						require.InDelta(t, drops[i], *d.PValue, hair, "task %d of %v beside %v, shared: %t", i, before,
							after, shared)
					}
				}
			}
		}
	}
	assert.Greater(t, seen, 10, "some tasks dropped")
}

// counted is the chance of a net gain as large, and for each of two tasks that some task
// drops as clearly.
func counted(before, after [][]float64, shared bool) (gain float64, drops [2]float64) {
	all := choices(len(before[0]), len(after[0]))
	observed := uint(1)<<len(after[0]) - 1
	var was, clear [2]float64
	for i := range was {
		was[i], clear[i] = labelled(before[i], after[i], observed)
	}
	ways := 0.0
	for _, first := range all {
		for _, second := range all {
			if shared && first != second {
				continue
			}
			ways++
			g1, c1 := labelled(before[0], after[0], first)
			g2, c2 := labelled(before[1], after[1], second)
			if g1+g2 >= was[0]+was[1]-hair {
				gain++
			}
			for i := range drops {
				if max(c1, c2) >= clear[i]-hair*max(1, math.Abs(clear[i])) {
					drops[i]++
				}
			}
		}
	}
	return gain / ways, [2]float64{drops[0] / ways, drops[1] / ways}
}

// TestEnoughRunsAreEnough: with so many runs, sides that are as far apart as can be are
// promoted, and with one fewer nothing ever is.
func TestEnoughRunsAreEnough(t *testing.T) {
	t.Parallel()
	for tasks := 1; tasks <= 4; tasks++ {
		for runs := 2; runs <= 5; runs++ {
			side := func(composite float64) format.SuiteOutcome {
				return repeated(slices.Repeat([][]float64{slices.Repeat([]float64{composite}, runs)}, tasks)...)
			}
			got := score.Compare(side(0.2), side(0.9), score.DefaultThresholds())
			assert.Equal(t, score.EnoughRuns(tasks, runs), got.Promotable, "%d tasks, %d runs: %s", tasks, runs,
				got.Summary)
		}
	}
}

// TestTheOrderOfTasksAndRunsDecidesNothing compares suites again with their tasks, and the
// runs of each, in another order.
func TestTheOrderOfTasksAndRunsDecidesNothing(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(101, 102))
	verdicts := map[decision.Verdict]int{}
	for i := range 120 {
		tasks, runs := 1+chance.IntN(3), 1+chance.IntN(4)
		draw := func(gain float64) format.SuiteOutcome {
			var o format.SuiteOutcome
			for k := range tasks {
				s := format.Score{TaskID: fmt.Sprintf("t%d", k)}
				for range runs {
					run := format.Run{Objective: format.Passed(min(4, max(0, 2+int(gain+chance.NormFloat64()/2))), 4)}
					run.Cost.Tokens = new(metric.NumberFromInt(int64(100 + chance.IntN(5))))
					s.Runs = append(s.Runs, run)
				}
				o.Scores = append(o.Scores, s)
			}
			return o
		}
		baseline, candidate := draw(0), draw(float64(i%5)-2)
		mixed := func(o format.SuiteOutcome) format.SuiteOutcome {
			o.Scores = slices.Clone(o.Scores)
			chance.Shuffle(len(o.Scores), func(a, b int) { o.Scores[a], o.Scores[b] = o.Scores[b], o.Scores[a] })
			for k, s := range o.Scores {
				s.Runs = slices.Clone(s.Runs)
				chance.Shuffle(len(s.Runs), func(a, b int) { s.Runs[a], s.Runs[b] = s.Runs[b], s.Runs[a] })
				o.Scores[k] = s
			}
			return o
		}
		want := score.Compare(baseline, candidate, score.DefaultThresholds())
		got := score.Compare(mixed(baseline), mixed(candidate), score.DefaultThresholds())
		require.Equal(t, want.Verdict, got.Verdict, "%s and %s", want.Summary, got.Summary)
		assert.Equal(t, want.Promotable, got.Promotable)
		assert.Equal(t, want.NetGain.String(), got.NetGain.String())
		assert.ElementsMatch(t, want.Regressions, got.Regressions)
		assert.ElementsMatch(t, want.Notes, got.Notes)
		assert.Equal(t, want.Totals, got.Totals)
		verdicts[want.Verdict]++

		same := score.Compare(baseline, mixed(baseline), score.DefaultThresholds())
		assert.Equal(t, decision.Neutral, same.Verdict, "a configuration beside itself: %s", same.Summary)
		assert.Equal(t, "0", same.NetGain.String())
	}
	assert.Len(t, verdicts, 3, "%v", verdicts)
}

// TestWhatIsAddedUp: the deltas and totals of two tasks that were run twice.
func TestWhatIsAddedUp(t *testing.T) {
	t.Parallel()
	run := func(passed, tokens int64, usd string) format.Run {
		r := format.Run{Objective: format.Passed(int(passed), 4)}
		r.Cost.Tokens = new(metric.NumberFromInt(tokens))
		if usd != "" {
			r.Cost.USD = new(metric.NumberOf(metric.MustValue(usd)))
		}
		return r
	}
	task := func(id string, runs ...format.Run) format.Score { return format.Score{TaskID: id, Runs: runs} }
	baseline := format.SuiteOutcome{
		ConfigLabel: "main",
		Scores: []format.Score{
			task("a", run(1, 100, "0.1"), run(2, 200, "0.2")),
			task("b", run(4, 10, "0.01"), run(4, 30, "0.03")),
		},
	}
	candidate := format.SuiteOutcome{
		ConfigLabel: "pr",
		Scores: []format.Score{
			task("b", run(4, 20, ""), run(4, 20, "0.02")), task("c", run(4, 9, "9")),
			task("a", run(3, 150, "0.1"), run(4, 150, "0.1")),
		},
	}
	thresholds := score.DefaultThresholds()
	thresholds.CostTolerance = metric.FromInt(9)
	got := score.Compare(baseline, candidate, thresholds)
	text := func(v *metric.Value) string {
		if v == nil {
			return "-"
		}
		return v.String()
	}
	var lines []string
	for _, d := range got.Deltas {
		before, after := "-", "-"
		if d.BaselineObjective != nil {
			before = d.BaselineObjective.String()
		}
		if d.CandidateObjective != nil {
			after = d.CandidateObjective.String()
		}
		lines = append(lines, fmt.Sprintf(
			"%s: %s → %s, objective %s → %s (%s), tokens %s, USD %s, runs %d and %d", d.TaskID,
			text(d.BaselineComposite), text(d.CandidateComposite), before, after, text(d.Objective), text(d.Tokens),
			text(d.USD), d.BaselineRuns, d.CandidateRuns))
	}
	assert.Equal(t, []string{
		"a: 0.375 → 0.875, objective 3/8 → 7/8 (0.5), tokens 0, USD -0.05, runs 2 and 2",
		"b: 1 → 1, objective 8/8 → 8/8 (0), tokens 0, USD -, runs 2 and 2",
		"c: - → 1, objective - → 4/4 (-), tokens -, USD -, runs 0 and 1",
	}, lines)
	assert.Equal(t, "0.5", got.NetGain.String())
	side := func(s score.Side) string {
		return fmt.Sprintf("%s: %d runs, %s of %s, composite %s, tokens %s, USD %s", s.ConfigLabel, s.Runs,
			text(s.Passed), text(s.Total), text(s.Composite), s.Cost.Tokens, known(s.Cost.USD))
	}
	assert.Equal(t, "main: 2 runs, 11 of 16, composite 1.375, tokens 340, USD 0.34", side(got.Totals.Baseline))
	assert.Equal(t, "pr: 2 runs, 15 of 16, composite 1.875, tokens 340, USD -", side(got.Totals.Candidate),
		"what one run does not know, nobody knows")
	assert.Equal(t, []int{2, 1, 1, 0},
		[]int{got.Totals.Tasks, got.Totals.Improved, got.Totals.Neutral, got.Totals.Regressed}, "c counts for nothing")
	assert.Equal(t, []string{"c"}, got.Totals.CandidateOnly)
}

func known(n *metric.Number) string {
	if n == nil {
		return "-"
	}
	return n.String()
}

func TestThresholdsBelowNothing(t *testing.T) {
	t.Parallel()
	require.NoError(t, score.DefaultThresholds().Err())
	require.NoError(t, score.Thresholds{}.Err())
	below := metric.MustValue("-0.001")
	for name, set := range map[string]score.Thresholds{
		"min-composite-gain": {MinCompositeGain: below}, "regression-composite-drop": {RegressionCompositeDrop: below},
		"cost-tolerance": {CostTolerance: below},
	} {
		require.EqualError(t, set.Err(), name+" -0.001 is below 0; give 0 or more")
	}
}
