package score_test

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/score"
)

func costs(tokens, usd int64) format.Cost {
	t, u := metric.NumberFromInt(tokens), metric.NumberFromInt(usd)
	return format.Cost{Tokens: &t, USD: &u}
}

func TestCostTolerance(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		actual, reference format.Cost
		tolerance, want   string
	}{
		"without a band":             {costs(110, 1), costs(100, 1), "0", "-0.005"},
		"on the edge of the band":    {costs(110, 1), costs(100, 1), "0.1", "0"},
		"beyond the band":            {costs(111, 1), costs(100, 1), "0.1", "-0.0055"},
		"below the band":             {costs(80, 1), costs(100, 1), "0.1", "0.01"},
		"something instead of none":  {costs(5, 1), costs(0, 1), "0", "-0.05"},
		"none instead of none":       {costs(0, 1), costs(0, 1), "0", "0"},
		"less than none at all":      {costs(100, 1), costs(-5, 1), "0", "-0.05"},
		"nothing known on one side":  {format.Cost{}, costs(100, 1), "0", "0"},
		"a thousand times as dear":   {costs(100_000, 1000), costs(100, 1), "0", "-0.1"},
		"everything for nothing":     {costs(0, 0), costs(100, 1), "0", "0.1"},
		"the mean, before the clamp": {costs(300, 0), costs(100, 1), "0", "-0.05"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, score.Adjustment(c.actual, c.reference, metric.MustValue(c.tolerance)).String())
		})
	}
}

// runsOf is an outcome of one task, each run given by its fields.
func runsOf(t *testing.T, runs ...string) format.SuiteOutcome {
	t.Helper()
	var list []string
	for _, fields := range runs {
		list = append(list, fmt.Sprintf(`{"scores": [{"taskId": "a", %s}]}`, fields))
	}
	o, problems := format.ParseOutcome("runs", []byte(`{"runs": [`+strings.Join(list, ",")+`]}`))
	require.NoError(t, problems.Err())
	return o
}

func TestTheReferenceIsTheBaselinesMeanCost(t *testing.T) {
	t.Parallel()
	run := func(tokens string) string {
		return `"objective": {"passed": 1, "total": 2}, "cost": {"tokens": ` + tokens + `, "costUsd": 1}`
	}
	got := score.Compare(runsOf(t, run("100"), run("300")), runsOf(t, run("400"), run("400")),
		score.DefaultThresholds())
	assert.Equal(t, "0.5", got.Deltas[0].BaselineComposite.String(), "0.525 and 0.475")
	assert.Equal(t, "0.45", got.Deltas[0].CandidateComposite.String(), "twice the mean of 200, and the same USD")
	got = score.Compare(runsOf(t, run("100"), run("300")), runsOf(t, run("400"), run("null")),
		score.DefaultThresholds())
	assert.Equal(t, "0.5", got.Deltas[0].CandidateComposite.String(), "what one run does not know counts for none")
}

func TestJudgesOfSeveralRuns(t *testing.T) {
	t.Parallel()
	const judged, silent = `"objective": {"passed": 1, "total": 2}, "judge": {"score0to1": 1}`,
		`"objective": {"passed": 1, "total": 2}`
	for name, c := range map[string]struct {
		baseline, candidate []string
		kind                score.ReasonKind
		before              string
	}{
		"in every run": {[]string{judged, judged}, []string{judged, judged}, "", "0.7"},
		"silent once": {
			[]string{judged, judged, judged},
			[]string{judged, silent, judged},
			score.JudgeIncomplete, "0.5",
		},
		"silent in most of a side": {
			[]string{judged, judged, judged},
			[]string{judged, silent, silent},
			score.JudgeOneSided, "0.5",
		},
		"silent on a side, and in most runs of the other": {
			[]string{silent, silent, silent},
			[]string{judged, silent, silent},
			score.JudgeOneSided, "0.5",
		},
		"silent on a side": {[]string{silent, silent}, []string{judged, judged}, score.JudgeOneSided, "0.5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := score.Compare(runsOf(t, c.baseline...), runsOf(t, c.candidate...), score.DefaultThresholds())
			assert.Equal(t, c.before, got.Deltas[0].BaselineComposite.String())
			assert.Equal(t, c.before, got.Deltas[0].CandidateComposite.String())
			if c.kind != "" {
				assert.Equal(t, []score.ReasonKind{c.kind}, kinds(got.Notes))
			}
		})
	}
}

// TestChecksThatCannotBeCompared: passed checks are a gain beside the same checks, in runs that
// came to their end.
func TestChecksThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	const one, four = `"objective": {"passed": 1, "total": 4}`, `"objective": {"passed": 4, "total": 4}`
	list := func(names string, passed int) string {
		var checks []string
		for i, name := range strings.Fields(names) {
			checks = append(checks, fmt.Sprintf(`{"kind": "command", "name": %q, "passed": %t}`, name, i < passed))
		}
		return fmt.Sprintf(`, "checks": [%s]`, strings.Join(checks, ","))
	}
	for name, c := range map[string]struct {
		before, after, odd string // odd is the candidate's last run of five
		kind               score.ReasonKind
	}{
		"as many": {one, four, four, ""},
		"the same by name": {
			one + list("a b c d", 1), four + list("a b c d", 4),
			four + list("d a b c", 4), "",
		},
		"names on one side": {one + list("a b c d", 1), four, four, ""},
		"a failed run that passes none": {
			one, four,
			`"objective": {"passed": 0, "total": 4}, "failure": "timeout"`, "",
		},
		"fewer": {
			one, `"objective": {"passed": 1, "total": 1}`,
			`"objective": {"passed": 1, "total": 1}`, score.ChecksDiffer,
		},
		"more": {
			one, `"objective": {"passed": 8, "total": 8}`,
			`"objective": {"passed": 8, "total": 8}`, score.ChecksDiffer,
		},
		"fewer in one run": {one, four, `"objective": {"passed": 3, "total": 3}`, score.ChecksDiffer},
		"others": {
			one + list("a b c d", 1), four + list("a b c e", 4),
			four + list("a b c e", 4), score.ChecksDiffer,
		},
		"another in one run": {
			one + list("a b c d", 1), four + list("a b c d", 4),
			four + list("a b c e", 4), score.ChecksDiffer,
		},
		"a run that failed":             {one, four, four + `, "failure": "exit code 1"`, score.FailedRun},
		"runs that failed":              {one, four + `, "failure": "exit code 1"`, four, score.FailedRun},
		"a failed baseline that passes": {one + `, "failure": "exit code 1"`, four, four, score.FailedRun},
		"a failed run without checks": {
			`"objective": {"passed": 0, "total": 0}, "judge": {"score0to1": 0.1}`,
			`"objective": {"passed": 0, "total": 0}, "judge": {"score0to1": 0.9}`,
			`"objective": {"passed": 0, "total": 0}, "judge": {"score0to1": 0.9}, "failure": "timeout"`,
			score.FailedRun,
		},
		"more passed than are listed": {one, four + list("a b c d", 3), four, score.ChecksMiscounted},
		"fewer listed than counted":   {one, four, four + list("a b c", 3), score.ChecksMiscounted},
		"an empty list":               {one, four, four + `, "checks": []`, score.ChecksMiscounted},
		"a miscounted baseline":       {one + list("a b c d", 3), four, four, score.ChecksMiscounted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			baseline := runsOf(t, c.before, c.before, c.before, c.before, c.before)
			got := score.Compare(baseline, runsOf(t, c.after, c.after, c.after, c.after, c.odd),
				score.DefaultThresholds())
			assert.Equal(t, c.kind == "", got.Promotable, got.Summary)
			if c.kind == "" {
				assert.Empty(t, got.Notes)
				return
			}
			assert.Equal(t, decision.Neutral, got.Verdict, got.Summary)
			assert.Equal(t, []score.ReasonKind{c.kind}, kinds(got.Notes))
		})
	}
}

// TestRunWithoutTheTask regresses, whichever side it is of, and also where it has no task at all.
func TestRunWithoutTheTask(t *testing.T) {
	t.Parallel()
	side := func(passed int, last string) format.SuiteOutcome {
		run := fmt.Sprintf(`{"scores": [{"taskId": "a", "objective": {"passed": %d, "total": 4}}]},`, passed)
		o, problems := format.ParseOutcome("runs", []byte(`{"runs": [`+strings.Repeat(run, 4)+last+`]}`))
		require.NoError(t, problems.Err())
		return o
	}
	whole := `{"scores": [{"taskId": "a", "objective": {"passed": 1, "total": 4}}]}`
	for name, last := range map[string]string{
		"no task":        `{"scores": []}`,
		"a foreign task": `{"scores": [{"taskId": "z", "objective": {"passed": 4, "total": 4}}]}`,
	} {
		for name, got := range map[string]score.Comparison{
			name + " in a run of the candidate": score.Compare(side(1, whole), side(4, last),
				score.DefaultThresholds()),
			name + " in a run of the baseline": score.Compare(side(1, last), side(4, whole),
				score.DefaultThresholds()),
		} {
			require.NotEmpty(t, got.Regressions, name)
			assert.Equal(t, score.TaskMissing, got.Regressions[0].Kind, name)
			assert.Contains(t, got.Regressions[0].Text, "missing from 1 of 5 runs", name)
		}
	}
}

// TestWhichModelsJudged: where one run does not say who judged it, nobody knows that two
// judges were at work, in whatever order the runs are.
func TestWhichModelsJudged(t *testing.T) {
	t.Parallel()
	side := func(models ...string) format.SuiteOutcome {
		var runs []string
		for _, model := range models {
			runs = append(runs, fmt.Sprintf(
				`"objective": {"passed": 1, "total": 2}, "judge": {"score0to1": 1, "model": %q}`, model))
		}
		return runsOf(t, runs...)
	}
	for name, c := range map[string]struct {
		baseline, candidate []string
		differ              bool
	}{
		"the same":                    {[]string{"x", "x"}, []string{"x", "x"}, false},
		"another":                     {[]string{"x", "x"}, []string{"y", "y"}, true},
		"several beside one":          {[]string{"x", "x"}, []string{"x", "y"}, true},
		"several on both sides":       {[]string{"x", "y"}, []string{"y", "x"}, false},
		"the first is not known":      {[]string{"", "x"}, []string{"y", "y"}, false},
		"the last is not known":       {[]string{"x", ""}, []string{"y", "y"}, false},
		"several and one not known":   {[]string{"x", "z", ""}, []string{"y", "y", "y"}, false},
		"none is known":               {[]string{"", ""}, []string{"y", "y"}, false},
		"the candidate's last is not": {[]string{"x", "x"}, []string{"y", ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := score.Compare(side(c.baseline...), side(c.candidate...), score.DefaultThresholds())
			assert.Equal(t, c.differ, slices.Contains(kinds(got.Notes), score.JudgeDiffers), "%v", got.Notes)
		})
	}
}

func TestOneSidedJudgeOverrulesGivenComposites(t *testing.T) {
	t.Parallel()
	got := score.Compare(
		outcome(t, "["+one("a", 1, 2, `, "composite": 0.1`)+"]"),
		outcome(t, "["+one("a", 1, 2, `, "composite": 0.9, "judge": {"score0to1": 1}`)+"]"), score.DefaultThresholds())
	assert.Equal(t, "0", got.NetGain.String(), "both are computed again without the judge")
	assert.Equal(t, decision.Neutral, got.Verdict)
}

func TestTheBaselinesJudgeWeightCounts(t *testing.T) {
	t.Parallel()
	side := func(weight string) format.SuiteOutcome {
		return outcome(t, "["+one("a", 0, 1, `, "judge": {"score0to1": 1}, "judgeWeight": `+weight)+"]")
	}
	got := score.Compare(side("0.2"), side("1"), score.DefaultThresholds())
	assert.Equal(t, "0.25", got.Deltas[0].BaselineComposite.String(), "0.2 / 0.8")
	assert.Equal(t, "0.25", got.Deltas[0].CandidateComposite.String(), "a candidate cannot weigh its own judge")
}

func TestNetLossOfSeveralRuns(t *testing.T) {
	t.Parallel()
	set := score.DefaultThresholds()
	set.NetLossIsRegression = true
	high, low := []float64{.50, .51, .50, .49, .50}, []float64{.46, .47, .46, .46, .47}
	got := score.Compare(repeated(high), repeated(low), set)
	assert.Equal(t, []score.ReasonKind{score.NetLoss}, kinds(got.Regressions),
		"a loss within the drop of one task, and not chance")
	got = score.Compare(repeated([]float64{.9, .1, .5, .5, .5}), repeated([]float64{.5, .1, .8, .4, .5}), set)
	assert.Empty(t, got.Regressions, "a loss of 0.04 that is chance")
	assert.Equal(t, decision.Neutral, got.Verdict)
}

func TestWorstOfTheBaseline(t *testing.T) {
	t.Parallel()
	set := score.DefaultThresholds()
	set.RegressionCompositeDrop = metric.FromInt(1)
	assert.Equal(t, decision.Neutral, score.Compare(checked(4, 4, 4, 4, 2), checked(2, 2, 2, 2, 2), set).Verdict,
		"as good as the worst")
	assert.Equal(t, decision.Regressed, score.Compare(checked(4, 4, 4, 4, 2), checked(1, 1, 1, 1, 1), set).Verdict)
}

// TestDropAmongTasks: the same drop is clear in a quiet suite, and lost where
// many other tasks bounce as far.
func TestDropAmongTasks(t *testing.T) {
	t.Parallel()
	fell, was := []float64{.40, .48, .45, .52, .41}, []float64{.55, .49, .58, .60, .53}
	quiet := score.Compare(repeated(was), repeated(fell), score.DefaultThresholds())
	assert.Contains(t, kinds(quiet.Regressions), score.CompositeDrop)
	assert.InDelta(t, 2.0/252, *quiet.Deltas[0].PValue, 1e-9, "two of 252 arrangements are as clear")
	bounced := []float64{.9, .2, .8, .3, .6}
	loud := score.Compare(repeated(append(thirty(bounced), was)...), repeated(append(thirty(bounced), fell)...),
		score.DefaultThresholds())
	assert.Empty(t, loud.Regressions)
	assert.Greater(t, *loud.Deltas[29].PValue, *quiet.Deltas[0].PValue)
	assert.Contains(t, kinds(loud.Notes), score.NotSignificant)
}

// TestSummaries: the one line says what decided, and what holds a gain back.
func TestSummaries(t *testing.T) {
	t.Parallel()
	single := func(scores string) format.SuiteOutcome { return outcome(t, "["+scores+"]") }
	checks := func(passed ...int) format.SuiteOutcome { // of four, in three runs of each task
		var o format.SuiteOutcome
		for i, n := range passed {
			run := format.Run{Objective: format.Passed(n, 4)}
			o.Scores = append(o.Scores, format.Score{TaskID: fmt.Sprint("t", i), Runs: []format.Run{run, run, run}})
		}
		return o
	}
	for name, c := range map[string]struct {
		baseline, candidate format.SuiteOutcome
		summary             string
	}{
		"nothing": {single(""), single(one("a", 1, 1, "")), "neutral: nothing to compare"},
		"the same": {
			single(one("a", 1, 2, "")), single(one("a", 1, 2, "")),
			"neutral: net composite gain 0 over 1 task",
		},
		"a loss in the band": {
			single(one("a", 1, 1, `, "composite": 0.5`)),
			single(one("a", 1, 1, `, "composite": 0.49`)), "neutral: net composite gain -0.01 over 1 task",
		},
		"a gain in the band": {
			single(one("a", 1, 1, `, "composite": 0.5`)),
			single(one("a", 1, 1, `, "composite": 0.51`)),
			"neutral: net composite gain +0.01 over 1 task, which does not exceed 0.01",
		},
		"a gain": {
			single(one("a", 1, 2, "") + "," + one("b", 1, 1, "")),
			single(one("a", 2, 2, "") + "," + one("b", 1, 1, "")),
			"improved: net composite gain +0.5 over 2 tasks, no hard regression",
		},
		"a gain of one run of a model": {
			single(one("a", 1, 2, `, "judge": {"score0to1": 1}`)),
			single(one("a", 2, 2, `, "judge": {"score0to1": 1}`)),
			"improved: net composite gain +0.3 over 1 task, no hard regression; not promotable, because it is a " +
				"single run",
		},
		"a regression": {
			single(one("a", 2, 2, "")), single(one("a", 1, 2, `, "composite": 1`)),
			"regressed: 1 hard regression, net composite gain 0 over 1 task",
		},
		"regressions": {
			single(one("a", 2, 2, "")), single(one("a", 1, 2, "")),
			"regressed: 2 hard regressions, net composite gain -0.5 over 1 task",
		},
		"a composite of null": {
			single(one("a", 1, 2, "")), single(one("a", 1, 2, `, "composite": null`)),
			"regressed: 1 hard regression, the net composite gain could not be computed",
		},
		"a judge on one side": {
			single(one("a", 1, 2, "") + "," + one("b", 0, 1, "")),
			single(one("a", 1, 2, `, "judge": {"score0to1": 1}`) + "," + one("b", 1, 1, "")),
			"neutral: net composite gain +1 over 2 tasks, held back by a judge on one side only",
		},
		"two judges": {
			single(one("a", 1, 2, `, "judge": {"score0to1": 0, "model": "x"}`)),
			single(one("a", 2, 2, `, "judge": {"score0to1": 1, "model": "y"}`)),
			"neutral: net composite gain +0.5 over 1 task, held back by two judges",
		},
		"checks on one side": {
			single(one("a", 0, 4, "")), single(one("a", 0, 0, "")),
			"neutral: net composite gain +1 over 1 task, held back by checks on one side only",
		},
		"checks that may be lost": {
			checks(0, 0, 4), checks(4, 4, 3),
			"neutral: net composite gain +1.75 over 3 tasks (p = 0.0025), held back by a task that may have lost checks",
		},
		"chance": {
			repeated([]float64{.1, .2}), repeated([]float64{.8, .9}),
			"neutral: net composite gain +0.7 over 1 task (p = 0.17), which may be chance",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.summary, score.Compare(c.baseline, c.candidate, score.DefaultThresholds()).Summary)
		})
	}
}

// TestSoManyRunsAreDrawn: beyond what can be counted the arrangements are drawn, the same
// each time, and a chance is never nothing.
func TestSoManyRunsAreDrawn(t *testing.T) {
	t.Parallel()
	side := func(from float64) []float64 {
		list := make([]float64, 9) // 48,620 arrangements
		for i := range list {
			list[i] = from + float64(i)/100
		}
		return list
	}
	for name, shared := range map[string]bool{"within tasks": false, "whole runs": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := score.DefaultThresholds()
			set.Shared = shared
			up := score.Compare(repeated(side(0.2), side(0.3)), repeated(side(0.6), side(0.7)), set)
			assert.True(t, up.Promotable, up.Summary)
			assert.Positive(t, *up.PValue)
			assert.Less(t, *up.PValue, 0.001)
			down := score.Compare(repeated(side(0.6), side(0.7)), repeated(side(0.2), side(0.3)), set)
			assert.Equal(t, decision.Regressed, down.Verdict)
			assert.InDelta(t, 1, *down.PValue, 0.001)
			for _, d := range down.Deltas {
				assert.Positive(t, *d.PValue)
				assert.Less(t, *d.PValue, 0.01)
			}
			assert.Equal(t, down, score.Compare(repeated(side(0.6), side(0.7)), repeated(side(0.2), side(0.3)), set))
			slight := score.Compare(repeated(side(0.2)), repeated(side(0.215)), set)
			assert.InDelta(t, asFarApart(append(side(0.215), side(0.2)...)), *slight.PValue, 0.02,
				"as when all are counted")
		})
	}
}

// asFarApart is the part of all choices of half of the samples whose sum is as large as
// that of the first half.
func asFarApart(samples []float64) float64 {
	half, as, all := len(samples)/2, 0.0, 0.0
	sum := func(chosen uint) (sum float64) {
		for i, x := range samples {
			if chosen>>i&1 == 1 {
				sum += x
			}
		}
		return sum
	}
	observed := sum(1<<half - 1)
	for chosen := range uint(1) << len(samples) {
		if bits.OnesCount(chosen) != half {
			continue
		}
		all++
		if sum(chosen) >= observed-1e-9 {
			as++
		}
	}
	return as / all
}

// TestBaseIsACompositeWithoutCosts of one run, whatever a file says of its composite.
func TestBaseIsACompositeWithoutCosts(t *testing.T) {
	t.Parallel()
	given, weight := metric.NumberOf(metric.MustValue("0.9")), metric.MustValue("0.2")
	run := format.Run{Objective: format.Passed(1, 3), Composite: &given, Cost: costs(100, 1)}
	base, ok := score.Base(run, &weight)
	require.True(t, ok)
	assert.Equal(t, "0.333333", base.String(), "without a judge his weight counts for nothing")
	run.Judge = &format.Judgement{Score: metric.NumberOf(metric.MustValue("1"))}
	base, ok = score.Base(run, &weight)
	require.True(t, ok)
	assert.Equal(t, "0.5", base.String(), "(0.6/3 + 0.2) / 0.8")
	run.Judge.Score = metric.NonFinite()
	_, ok = score.Base(run, nil)
	assert.False(t, ok)
	run.Judge, run.Objective.Total = nil, metric.NonFinite()
	_, ok = score.Base(run, nil)
	assert.False(t, ok)
}
