package tasks_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/tasks"
	"github.com/org/autoloop/tests/golden"
)

func TestVerdictOfSingleRuns(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{
		"a drop of exactly the threshold":        "t0 =0.5 -> t0 =0.45 => neutral unrepeated",
		"a tenth of a millionth is rounded away": "t0 =0.5 -> t0 =0.5100004 => neutral unrepeated",
		"an infinity in the baseline's cost":     "0/1 tNaN -> t0 => regressed non-finite unrepeated",
		"a NaN in a task of the candidate alone": "0/1 t0 -> t0; t0 =NaN => " +
			"regressed non-finite candidate-only unrepeated",
		"a judge of one side hides no drop of the checks": "2/2 t0 j0 -> 1/2 t0 => " +
			"regressed objective-drop composite-drop judge-one-sided unrepeated",
		"fewer checks passed of fewer": "2/3 t0 -> 1/1 t0 => regressed objective-drop checks-differ unrepeated",
		"a lower rate of more": "2/3 t0 =0.5 -> 3/6 t0 =0.9 => " +
			"regressed objective-drop checks-differ unrepeated",
		"a judge on one side overrules given composites": "1/2 t0 =0.1 -> 1/2 t0 =0.9 j1 => " +
			"neutral judge-one-sided unrepeated",
		// What may come out otherwise the next time is not promoted.
		"no model ran":          "1/4 t0 -> 2/4 t0 => improved promoted unrepeated",
		"a model ran":           "1/4 t900 -> 2/4 t900 => improved unrepeated",
		"money was spent":       "1/4 t0 $0.1 -> 2/4 t0 $0.1 => improved unrepeated",
		"nothing says so":       "1/4 m20 -> 2/4 m20 => improved unrepeated",
		"a judge on both sides": "1/4 t0 j0.5 -> 2/4 t0 j0.5 => improved unrepeated",
		"declared":              "1/4 sure -> 2/4 sure => improved promoted unrepeated",
		"declared on one side":  "1/4 sure -> 2/4 chance => improved unrepeated",
		"only faster":           "1/9 t0 m1000 -> 1/9 t0 m500 => improved unrepeated",
		"better and faster":     "1/9 t0 m1000 -> 2/9 t0 m900 => improved promoted unrepeated",
	}, func(t *testing.T, input string) any { return verdict(compare(t, input, tasks.DefaultThresholds())) })
}

func TestVerdictOfRepeatedRuns(t *testing.T) {
	t.Parallel()
	const (
		low, high       = "=.50, =.51, =.49, =.50, =.52", "=.80, =.81, =.79, =.82, =.80"
		bounced, risen  = "=.9, =.2, =.9, =.2, =.6", "=.9, =.9, =.9, =.2, =.6"
		low1, high1     = "=.50", "=.80, =.81, =.79, =.82" // fewer runs
		was, fell       = "=.55, =.49, =.58, =.60, =.53", "=.40, =.48, =.45, =.52, =.41"
		sways, manySway = "=.9, =.2, =.8, =.3, =.6", 29
	)
	others := func(runs, last string) string { return strings.Repeat(runs+"; ", manySway) + last }
	golden.Table(t, map[string]string{
		"a clear gain":              low + "->" + high + "=> improved promoted",
		"a clear drop":              high + "->" + low + "=> regressed composite-drop",
		"a gain that may be chance": bounced + "->" + risen + "=> neutral not-significant",
		"a drop that may be chance": risen + "->" + bounced + "=> neutral not-significant",
		"one run beside five":       low1 + "->" + high + "=> neutral not-significant",
		"a clear gain beside a clear drop": low + ";" + low + ";" + high + "->" + high + ";" + high + ";" + low +
			"=> regressed composite-drop not-significant",
		"a drop among thirty tasks": others(bounced, high) + "->" + others(bounced, low) +
			"=> regressed composite-drop",
		"a candidate's run without task": low + ";" + low + "->" + high + ";" + high1 + "=> regressed task-missing",
		"a baseline's run without task":  low + ";=.5" + "->" + high + ";" + high + "=> regressed task-missing",
		"a drop in a quiet suite":        was + "->" + fell + "=> regressed composite-drop",
		"the same where others sway": others(
			sways,
			was,
		) + "->" + others(
			sways,
			fell,
		) + "=> neutral not-significant",
		// A candidate is held to the worst run of the baseline.
		"one run as good as the worst": "5*4/4 -> 2*4/4, 3*3/4 => neutral not-significant",
		"all below the worst":          "4*4/4, 3/4 -> 4*2/4, 1/4 => regressed objective-drop composite-drop",
		// Passed checks are a gain beside the same checks, in runs that came to their end.
		"as many":                       "5*1/4 -> 5*4/4 => improved promoted",
		"the same by name":              "5*1/4 |a|b|c|d -> 4*4/4 |a|b|c|d, 4/4 |d|a|b|c => improved promoted",
		"names on one side":             "5*1/4 |a|b|c|d -> 5*4/4 => improved promoted",
		"a failed run that passes none": "5*1/4 -> 4*4/4, 0/4 ! => improved promoted",
		"fewer":                         "5*1/4 -> 5*1/1 => neutral checks-differ",
		"more":                          "5*1/4 -> 5*8/8 => neutral checks-differ",
		"fewer in one run":              "5*1/4 -> 4*4/4, 3/3 => neutral checks-differ",
		"others":                        "5*1/4 |a|b|c|d -> 5*4/4 |a|b|c|e => neutral checks-differ",
		"another in one run":            "5*1/4 |a|b|c|d -> 4*4/4 |a|b|c|d, 4/4 |a|b|c|e => neutral checks-differ",
		"a run that failed":             "5*1/4 -> 4*4/4, 4/4 ! => neutral failed-run",
		"runs that failed":              "5*1/4 -> 4*4/4 !, 4/4 => neutral failed-run",
		"a failed baseline that passes": "5*1/4 ! -> 5*4/4 => neutral failed-run",
		"a failed run without checks":   "5*0/0 j0.1 -> 5*0/0 j0.9 ! => neutral failed-run",
		"fewer listed than counted":     "5*1/4 -> 4*4/4, 4/4 |a|b|c => neutral checks-miscounted",
		"an empty list":                 "5*1/4 -> 4*4/4, 4/4 | => neutral checks-miscounted",
		"a miscounted baseline":         "5*3/4 |a|b|c|d|e -> 5*4/4 => neutral checks-miscounted",
	}, func(t *testing.T, input string) any { return verdict(compare(t, input, tasks.DefaultThresholds())) })
}

func TestThresholdsOfTheProgram(t *testing.T) {
	t.Parallel()
	lossCounts, dropsAreFree := tasks.DefaultThresholds(), tasks.DefaultThresholds()
	lossCounts.NetLossIsRegression, dropsAreFree.RegressionCompositeDrop = true, metric.FromInt(1)
	for name, c := range map[string]struct {
		set         tasks.Thresholds
		sides, want string
	}{
		"a loss that is not chance": {
			lossCounts, "=.50, =.51, =.50, =.49, =.50 -> =.46, =.47, =.46, =.46, =.47", "regressed net-loss",
		},
		"a loss that is chance": {lossCounts, "=.9, =.1, =.5, =.5, =.5 -> =.5, =.1, =.8, =.4, =.5", "neutral"},
		"as good as the worst":  {dropsAreFree, "4*4/4, 2/4 -> 5*2/4", "neutral"},
		"worse than the worst":  {dropsAreFree, "4*4/4, 2/4 -> 5*1/4", "regressed objective-drop"},
	} {
		assert.Equal(t, c.want, verdict(compare(t, c.sides, c.set)), name)
	}
}

// TestChancesAreCounted: of all ways to label the runs, those that are as far apart.
func TestChancesAreCounted(t *testing.T) {
	t.Parallel()
	const lower, higher, was, fell = "=.1, =.2", "=.8, =.9", "=.55, =.49, =.58, =.60, =.53", "=.40, =.48, =.45, =.52, =.41"
	const low, high, two = lower + "," + lower, higher + "," + higher, lower + ";" + lower + "->" + higher + ";" + higher
	const down = higher + ";" + higher + "->" + lower + ";" + lower
	for name, c := range map[string]struct {
		sides      string
		shared     bool
		gain, drop float64 // drop is the first task's, 0 where it did not drop
		promotable bool
	}{
		"four runs":               {low + "->" + high, false, 1. / 70, 0, true},
		"three runs":              {lower + ",=.1 ->" + higher + ",=.8", false, 1. / 20, 0, false},
		"four beside three":       {low + "->" + higher + ",=.8", false, 1. / 35, 0, false},
		"two tasks of two":        {two, false, 1. / 36, 0, false},
		"three tasks of two":      {lower + ";" + two + ";" + higher, false, 1. / 216, 0, true},
		"whole runs":              {two, true, 1. / 6, 0, false},
		"one arrangement further": {"=.1, =.4 -> =.3, =.9", false, 2. / 6, 0, false},
		"drops of two tasks":      {down, false, 1, 11. / 36, false},
		"drops of whole runs":     {down, true, 1, 1. / 6, false},
		"two of 252":              {was + "->" + fell, false, 251. / 252, 2. / 252, false},
	} {
		got := compare(t, apart(c.shared)+c.sides, tasks.DefaultThresholds())
		assert.InDelta(t, c.gain, *got.PValue, 1e-9, name)
		assert.Equal(t, c.promotable, got.Promotable, name)
		if c.drop > 0 {
			assert.InDelta(t, c.drop, *got.Deltas[0].PValue, 1e-9, name)
		}
	}
}

// TestManyArrangementsAreDrawn beyond what can be counted, the same each time, and a chance is never nothing.
func TestManyArrangementsAreDrawn(t *testing.T) {
	t.Parallel()
	runs := func(from int) string { // nine, which have 48,620 arrangements
		var list []string
		for i := range 9 {
			list = append(list, fmt.Sprintf("=%d.%03d", 0, from+10*i))
		}
		return strings.Join(list, ",")
	}
	low, high := runs(200)+";"+runs(300), runs(600)+";"+runs(700)
	for _, shared := range []bool{false, true} {
		up, down := compare(t, apart(shared)+low+"->"+high, tasks.DefaultThresholds()), compare(t, apart(shared)+high+"->"+low, tasks.DefaultThresholds())
		assert.True(t, up.Promotable, up.Summary)
		assert.Positive(t, *up.PValue)
		assert.Less(t, *up.PValue, 0.001)
		assert.Equal(t, decision.Regressed, down.Verdict)
		assert.InDelta(t, 1, *down.PValue, 0.001)
		for _, d := range down.Deltas {
			assert.Positive(t, *d.PValue)
			assert.Less(t, *d.PValue, 0.01)
		}
		assert.Equal(t, down, compare(t, apart(shared)+high+"->"+low, tasks.DefaultThresholds()))
	}
	assert.InDelta(t, 0.14, *compare(t, runs(200)+"->"+runs(215), tasks.DefaultThresholds()).PValue, 0.02, "as when all are counted")
}

func TestCompositesOfBothSides(t *testing.T) {
	t.Parallel()
	composites := func(set tasks.Thresholds) func(*testing.T, string) any {
		return func(t *testing.T, input string) any {
			t.Helper()
			got := compare(t, input, set)
			text := fmt.Sprint(got.Deltas[0].BaselineComposite, " ", got.Deltas[0].CandidateComposite)
			for _, r := range got.Notes {
				text += " " + string(r.Kind)
			}
			return strings.TrimSuffix(text, " unrepeated")
		}
	}
	golden.Table(t, map[string]string{
		"a candidate cannot weigh its own judge": "0/1 j1 w0.2 -> 0/1 j1 w1 => 0.25 0.25",
		// The reference of costs is the mean of the baseline's runs.
		"twice the mean of 200":         "1/2 t100 $1, 1/2 t300 $1 -> 2*1/2 t400 $1 => 0.5 0.45",
		"what one run does not know":    "1/2 t100 $1, 1/2 t300 $1 -> 1/2 t400 $1, 1/2 $1 => 0.5 0.5",
		"without a band":                "1/2 t100 $1 -> 1/2 t110 $1 => 0.5 0.495",
		"something instead of none":     "1/2 t0 $1 -> 1/2 t5 $1 => 0.5 0.45",
		"less than none at all":         "1/2 t-5 $1 -> 1/2 t100 $1 => 0.5 0.45",
		"everything for nothing":        "1/2 t100 $1 -> 1/2 t0 $0 => 0.5 0.6",
		"the mean, before it is capped": "1/2 t100 $1 -> 1/2 t300 $0 => 0.5 0.45",
		// A judge counts where it judged every run; two are two where each run names its own.
		"given composites go, too": "1/2 =0.1 -> 1/2 =0.9 j1 => 0.5 0.5 judge-one-sided",
		"in every run":             "2*@x -> 2*@x => 0.6 0.6",
		"silent once":              "3*@x -> @x, -, @x => 1 1 judge-incomplete",
		"silent in most of a side": "3*@x -> @x, 2*- => 1 1 judge-one-sided",
		"silent on a side, and in most runs of the other": "3*- -> @x, 2*- => 1 1 judge-one-sided",
		"silent on a side":            "2*- -> 2*@x => 1 1 judge-one-sided",
		"another":                     "2*@x -> 2*@y => 1 1 judge-differs",
		"several beside one":          "2*@x -> @x, @y => 1 1 judge-differs",
		"several on both sides":       "@x, @y -> @y, @x => 0.6 0.6",
		"the first is not known":      "@, @x -> 2*@y => 0.6 0.6",
		"the last is not known":       "@x, @ -> 2*@y => 0.6 0.6",
		"several and one not known":   "@x, @z, @ -> 3*@y => 0.6 0.6",
		"the candidate's last is not": "2*@x -> @y, @ => 0.6 0.6",
	}, composites(tasks.DefaultThresholds()))
	band := tasks.DefaultThresholds()
	band.CostTolerance = metric.MustValue("0.1")
	golden.Table(t, map[string]string{
		"on the edge of the band": "1/2 t100 $1 -> 1/2 t110 $1 => 0.5 0.5",
		"beyond the band":         "1/2 t100 $1 -> 1/2 t111 $1 => 0.5 0.4945",
	}, composites(band))
}

// TestSummaries: the one line says what decided, and what holds a gain back.
func TestSummaries(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{
		"nothing":                      "-> t0",
		"a gain in the band":           "t0 =0.5 -> t0 =0.51",
		"a gain":                       "1/2 t0; t0 -> 2/2 t0; t0",
		"a gain of one run of a model": "1/2 t0 j1 -> 2/2 t0 j1",
		"a regression":                 "2/2 t0 -> 1/2 t0 =1",
		"regressions":                  "2/2 t0 -> 1/2 t0",
		"a composite of null":          "1/2 t0 -> 1/2 t0 =NaN",
		"a judge on one side":          "1/2 t0; 0/1 t0 -> 1/2 t0 j1; t0",
		"a judge of one run in three":  "3*@x -> @x, 2*-",
		"checks on one side":           "0/4 t0 -> 0/0 t0",
		"checks that may be lost":      "3*0/4; 3*0/4; 3*4/4 -> 3*4/4; 3*4/4; 3*3/4",
		"chance":                       "=.1, =.2 -> =.8, =.9",
	}, func(t *testing.T, input string) any {
		found := compare(t, input, tasks.DefaultThresholds())
		text := found.Summary
		for _, note := range found.Notes {
			text += " | " + note.Text
		}
		return text
	})
}

// TestMetricIsTheMeanBase over the tasks, whatever a file says of composites and costs.
func TestMetricIsTheMeanBase(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{
		"nothing":                     "=> false",
		"a number that is not finite": "1/1; 1/NaN => false",
		"a judge of none":             "1/2 jNaN => false",
		"a task without a run":        "0* => false",
		"a composite of the file":     "1/2 =0.9 t9 => true 0.5",
		"a judge and his weight":      "1/3 j1 w0.2 => true 0.5",
		"a weight without judge":      "1/3 w0.2 => true 0.333333",
		"tasks weigh alike":           "0/9; 1/1 => true 0.5",
		"without checks":              "0/0; 0/1 => true 0.5",
		"added before rounding":       "1/3; 1/3; 1/3; 2/3 => true 0.416667",
	}, func(t *testing.T, input string) any {
		o := side(t, input)
		got := tasks.Metric(o)
		if got == nil {
			return false
		}
		return fmt.Sprint(true, " ", got)
	})
}

// TestDeltasAndTotals of two tasks that were run twice; what the candidate alone has counts for
// nothing, and what one run does not know, nobody knows.
func TestDeltasAndTotals(t *testing.T) {
	t.Parallel()
	set := tasks.DefaultThresholds()
	set.CostTolerance = metric.FromInt(9)
	before := side(t, "1/4 t100 $0.1, 2/4 t200 $0.2; 4/4 t10 $0.01, 4/4 t30 $0.03")
	after := side(t, "b: 4/4 t20, 4/4 t20 $0.02; c: 4/4 t9 $9; a: 3/4 t150 $0.1, 4/4 t150 $0.1")
	before.ConfigLabel, after.ConfigLabel = "main", "pr"
	got := tasks.Compare(before, after, set)
	text, err := json.MarshalIndent([]any{got.Deltas, got.Totals, got.NetGain}, "", " ")
	require.NoError(t, err)
	golden.Equal(t, "totals.json", string(text))
	assert.Equal(t, "-1", compare(t, "t0 ->", tasks.DefaultThresholds()).NetGain.String(), "a task that is missing counts 0")
	text, err = json.Marshal(compare(t, "0/1 t0 -> t0 =NaN", tasks.DefaultThresholds()))
	require.NoError(t, err)
	assert.Contains(t, string(text), `"netCompositeGain":null`)
	assert.Contains(t, string(text), `"improvements":[]`, "an empty list, not null")
}
