package score_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/score"
	"github.com/org/autoloop/tests/golden"
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
		"something instead of none":  {costs(5, 1), costs(0, 1), "0", "-0.05"},
		"less than none at all":      {costs(100, 1), costs(-5, 1), "0", "-0.05"},
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

func TestJudgeWeightIsBaselines(t *testing.T) {
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
	}{
		"nothing": {single(""), single(one("a", 1, 1, ""))},
		"a gain in the band": {
			single(one("a", 1, 1, `, "composite": 0.5`)),
			single(one("a", 1, 1, `, "composite": 0.51`)),
		},
		"a gain": {
			single(one("a", 1, 2, "") + "," + one("b", 1, 1, "")),
			single(one("a", 2, 2, "") + "," + one("b", 1, 1, "")),
		},
		"a gain of one run of a model": {
			single(one("a", 1, 2, `, "judge": {"score0to1": 1}`)),
			single(one("a", 2, 2, `, "judge": {"score0to1": 1}`)),
		},
		"a regression": {
			single(one("a", 2, 2, "")), single(one("a", 1, 2, `, "composite": 1`)),
		},
		"regressions": {
			single(one("a", 2, 2, "")), single(one("a", 1, 2, "")),
		},
		"a composite of null": {
			single(one("a", 1, 2, "")), single(one("a", 1, 2, `, "composite": null`)),
		},
		"a judge on one side": {
			single(one("a", 1, 2, "") + "," + one("b", 0, 1, "")),
			single(one("a", 1, 2, `, "judge": {"score0to1": 1}`) + "," + one("b", 1, 1, "")),
		},
		"checks on one side": {
			single(one("a", 0, 4, "")), single(one("a", 0, 0, "")),
		},
		"checks that may be lost": {
			checks(0, 0, 4), checks(4, 4, 3),
		},
		"chance": {
			repeated([]float64{.1, .2}), repeated([]float64{.8, .9}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden.Line(t, score.Compare(c.baseline, c.candidate, score.DefaultThresholds()).Summary)
		})
	}
}

func TestReferenceIsBaselinesMeanCost(t *testing.T) {
	t.Parallel()
	side := func(first, second string) format.SuiteOutcome {
		const run = `"objective": {"passed": 1, "total": 2}, "cost": {"tokens": %s, "costUsd": 1}`
		return runsOf(t, fmt.Sprintf(run, first), fmt.Sprintf(run, second))
	}
	got := score.Compare(side("100", "300"), side("400", "400"), score.DefaultThresholds())
	assert.Equal(t, "0.5", got.Deltas[0].BaselineComposite.String(), "0.525 and 0.475")
	assert.Equal(t, "0.45", got.Deltas[0].CandidateComposite.String(), "twice the mean of 200, and the same USD")
	got = score.Compare(side("100", "300"), side("400", "null"), score.DefaultThresholds())
	assert.Equal(t, "0.5", got.Deltas[0].CandidateComposite.String(), "what one run does not know counts for none")
}

// TestJudgesOfSeveralRuns: a judge counts where it judged every run, and two judges
// are two where each run names its own.
func TestJudgesOfSeveralRuns(t *testing.T) {
	t.Parallel()
	// A word is the model of a run's judge, ? a judge without a name, and - a run without one.
	side := func(judges string) format.SuiteOutcome {
		var runs []string
		for judge := range strings.FieldsSeq(judges) {
			run := `"objective": {"passed": 1, "total": 2}`
			if judge != "-" {
				run += fmt.Sprintf(`, "judge": {"score0to1": 1, "model": %q}`, strings.Trim(judge, "?"))
			}
			runs = append(runs, run)
		}
		return runsOf(t, runs...)
	}
	for name, c := range map[string]struct {
		baseline, candidate string
		note                score.ReasonKind
	}{
		"in every run":             {"x x", "x x", ""},
		"silent once":              {"x x x", "x - x", score.JudgeIncomplete},
		"silent in most of a side": {"x x x", "x - -", score.JudgeOneSided},
		"silent on a side, and in most runs of the other": {"- - -", "x - -", score.JudgeOneSided},
		"silent on a side":            {"- -", "x x", score.JudgeOneSided},
		"another":                     {"x x", "y y", score.JudgeDiffers},
		"several beside one":          {"x x", "x y", score.JudgeDiffers},
		"several on both sides":       {"x y", "y x", ""},
		"the first is not known":      {"? x", "y y", ""},
		"the last is not known":       {"x ?", "y y", ""},
		"several and one not known":   {"x z ?", "y y y", ""},
		"the candidate's last is not": {"x x", "y ?", ""},
	} {
		got := score.Compare(side(c.baseline), side(c.candidate), score.DefaultThresholds())
		want, notes := "0.7", []score.ReasonKind{}
		if c.note != "" {
			want, notes = "0.5", append(notes, c.note)
		}
		assert.Equal(t, want, got.Deltas[0].BaselineComposite.String(), name)
		assert.Equal(t, want, got.Deltas[0].CandidateComposite.String(), name)
		assert.Equal(t, notes, kinds(got.Notes), name)
	}
}

// TestChecksThatCannotBeCompared: passed checks are a gain beside the same checks, in runs that
// came to their end.
func TestChecksThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	// A run is its passed and all checks, the names of those that are listed, and how it failed.
	read := func(text string) string {
		fields := strings.Split(text, "|")
		var passed, total int
		_, err := fmt.Sscanf(fields[0], "%d/%d", &passed, &total)
		require.NoError(t, err)
		run := fmt.Sprintf(`"objective": {"passed": %d, "total": %d}`, passed, total)
		if len(fields) > 1 {
			var checks []string
			for i, name := range strings.Fields(fields[1]) {
				checks = append(checks, fmt.Sprintf(`{"kind": "command", "name": %q, "passed": %t}`, name, i < passed))
			}
			run += fmt.Sprintf(`, "checks": [%s]`, strings.Join(checks, ","))
		}
		if strings.HasSuffix(text, "!") {
			run = strings.ReplaceAll(run, "!", "") + `, "failure": "exit code 1"`
		}
		return run
	}
	for name, c := range map[string]struct {
		before, after, odd string // odd is the candidate's last run of five
		kind               score.ReasonKind
	}{
		"as many":                       {"1/4", "4/4", "4/4", ""},
		"the same by name":              {"1/4|a b c d", "4/4|a b c d", "4/4|d a b c", ""},
		"names on one side":             {"1/4|a b c d", "4/4", "4/4", ""},
		"a failed run that passes none": {"1/4", "4/4", "0/4!", ""},
		"fewer":                         {"1/4", "1/1", "1/1", score.ChecksDiffer},
		"more":                          {"1/4", "8/8", "8/8", score.ChecksDiffer},
		"fewer in one run":              {"1/4", "4/4", "3/3", score.ChecksDiffer},
		"others":                        {"1/4|a b c d", "4/4|a b c e", "4/4|a b c e", score.ChecksDiffer},
		"another in one run":            {"1/4|a b c d", "4/4|a b c d", "4/4|a b c e", score.ChecksDiffer},
		"a run that failed":             {"1/4", "4/4", "4/4!", score.FailedRun},
		"runs that failed":              {"1/4", "4/4!", "4/4", score.FailedRun},
		"a failed baseline that passes": {"1/4!", "4/4", "4/4", score.FailedRun},
		"fewer listed than counted":     {"1/4", "4/4", "4/4|a b c", score.ChecksMiscounted},
		"an empty list":                 {"1/4", "4/4", "4/4|", score.ChecksMiscounted},
		"a miscounted baseline":         {"3/4|a b c d e", "4/4", "4/4", score.ChecksMiscounted},
	} {
		before, after := read(c.before), read(c.after)
		got := score.Compare(runsOf(t, slices.Repeat([]string{before}, 5)...),
			runsOf(t, after, after, after, after, read(c.odd)), score.DefaultThresholds())
		assert.Equal(t, c.kind == "", got.Promotable, "%s: %s", name, got.Summary)
		if c.kind == "" {
			assert.Empty(t, got.Notes, name)
			continue
		}
		assert.Equal(t, decision.Neutral, got.Verdict, "%s: %s", name, got.Summary)
		assert.Equal(t, []score.ReasonKind{c.kind}, kinds(got.Notes), name)
	}
	const none = `"objective": {"passed": 0, "total": 0}, "judge": {"score0to1": 0.%d}%s`
	failed := fmt.Sprintf(none, 9, `, "failure": "timeout"`)
	got := score.Compare(runsOf(t, slices.Repeat([]string{fmt.Sprintf(none, 1, "")}, 5)...),
		runsOf(t, slices.Repeat([]string{failed}, 5)...), score.DefaultThresholds())
	assert.Equal(t, []score.ReasonKind{score.FailedRun}, kinds(got.Notes), "a failed run without checks")
}

// TestDeltasAndTotals of two tasks that were run twice; what the candidate alone has counts for nothing.
func TestDeltasAndTotals(t *testing.T) {
	t.Parallel()
	side := func(label string, runs ...string) format.SuiteOutcome {
		o := format.SuiteOutcome{ConfigLabel: label}
		for _, text := range runs {
			var id string
			var passed int
			var tokens int64
			var usd float64
			read, _ := fmt.Sscanf(text, "%s %d %d %g", &id, &passed, &tokens, &usd)
			run := format.Run{Objective: format.Passed(passed, 4)}
			run.Cost.Tokens = new(metric.NumberFromInt(tokens))
			if read == 4 {
				run.Cost.USD = new(metric.NumberFromFloat(usd))
			}
			at := slices.IndexFunc(o.Scores, func(s format.Score) bool { return s.TaskID == id })
			if at < 0 {
				at = len(o.Scores)
				o.Scores = append(o.Scores, format.Score{TaskID: id})
			}
			o.Scores[at].Runs = append(o.Scores[at].Runs, run)
		}
		return o
	}
	set := score.DefaultThresholds()
	set.CostTolerance = metric.FromInt(9)
	got := score.Compare(side("main", "a 1 100 0.1", "a 2 200 0.2", "b 4 10 0.01", "b 4 30 0.03"),
		side("pr", "b 4 20", "b 4 20 0.02", "c 4 9 9", "a 3 150 0.1", "a 4 150 0.1"), set)
	text, err := json.Marshal([]any{got.Deltas, got.Totals, got.NetGain})
	require.NoError(t, err)
	assert.JSONEq(t, `[[
		{"taskId":"a","verdict":"improved","baselineComposite":0.375,"candidateComposite":0.875,"compositeDelta":0.5,
			"baselineObjective":{"passed":3,"total":8},"candidateObjective":{"passed":7,"total":8},"objectiveDelta":0.5,
			"judgeDelta":null,"tokensDelta":0,"costUsdDelta":-0.05,"isRegression":false,"pValue":null,"baselineRuns":2,
			"candidateRuns":2},
		{"taskId":"b","verdict":"neutral","baselineComposite":1,"candidateComposite":1,"compositeDelta":0,
			"baselineObjective":{"passed":8,"total":8},"candidateObjective":{"passed":8,"total":8},"objectiveDelta":0,
			"judgeDelta":null,"tokensDelta":0,"costUsdDelta":null,"isRegression":false,"pValue":null,"baselineRuns":2,
			"candidateRuns":2},
		{"taskId":"c","verdict":"neutral","baselineComposite":null,"candidateComposite":1,"compositeDelta":null,
			"baselineObjective":null,"candidateObjective":{"passed":4,"total":4},"objectiveDelta":null,
			"judgeDelta":null,"tokensDelta":null,"costUsdDelta":null,"isRegression":false,"pValue":null,
			"baselineRuns":0,"candidateRuns":1}],
		{"tasks":2,"improved":1,"neutral":1,"regressed":0,"candidateOnly":["c"],
			"baseline":{"configLabel":"main","runs":2,"passed":11,"total":16,"composite":1.375,"cost":{"tokens":340,
				"toolCalls":null,"steps":null,"wallClockMs":null,"costUsd":0.34}},
			"candidate":{"configLabel":"pr","runs":2,"passed":15,"total":16,"composite":1.875,"cost":{"tokens":340,
				"toolCalls":null,"steps":null,"wallClockMs":null,"costUsd":null}}},
		0.5]`, string(text),
		"what one run does not know, nobody knows")
}
