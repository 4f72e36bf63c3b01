package skill

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/tests/golden"
	"github.com/org/autoloop/tests/testdir"
)

// improved is a loop of v0, v1 and a candidate that was reverted, with gradings.
func improved(t *testing.T) *skillLoop {
	t.Helper()
	k := newSkillLoop(t, "4 2 0")
	k.says["better"], k.says["worse"] = []string{"3 4 2"}, []string{"4 0 -"}
	k.loop.Most, k.loop.Improver = 2, k.texts("better worse")
	k.ran("bkr")
	return k
}

func TestScoreOfEveryIteration(t *testing.T) {
	t.Parallel()
	v, _ := versionsOf(t, improved(t).Workspace)
	require.NoError(t, v.Append(results.Row{Iteration: 3, Action: results.Reverted, Changelog: "why"}))
	for n, score := range map[int]string{0: "0.5", 1: "0.75", 2: "0.333333333333"} {
		scored, err := v.Score(t.Context(), n)
		require.NoError(t, err)
		assert.Equal(t, score, scored.Score.String(), "iteration %d", n)
		assert.Equal(t, []ScoredRun{{Dir: ".", Score: scored.Score}}, scored.Runs)
		assert.Contains(t, scored.String(), "\nscore "+score[:3])
	}
	scored, err := v.Score(t.Context(), 2)
	require.NoError(t, err)
	assert.Equal(t, "there is no eval-3/grading.json", *scored.Cases[2].Problem)
	assert.Nil(t, scored.Cases[0].Problem)
	assert.Equal(t, []int{4}, scored.Cases[0].Runs)
	_, err = v.Score(t.Context(), 3)
	require.ErrorContains(t, err, "iteration 3 was not measured")
	_, err = v.Score(t.Context(), 7)
	require.ErrorContains(t, err, "iteration 7 was not measured")
}

func TestReportOfVersions(t *testing.T) {
	t.Parallel()
	b := newAppliedSkill(t)
	r, patch, err := b.Report(t.Context(), BestVersion)
	require.NoError(t, err)
	assert.Equal(t, 1, r.BestVersion)
	assert.Equal(t, "s", r.Skill)
	assert.Equal(t, "SKILL.md", r.Changes[0].Path)
	assert.Contains(t, string(patch), "-first\n+better\n")
	r, patch, err = b.Report(t.Context(), 0)
	require.NoError(t, err)
	assert.Empty(t, r.Changes)
	assert.Empty(t, patch)
}

// TestTriggersOfTheVersions: what the queries came to for each version that was kept: "+" is right,
// "-" wrong, "." not graded.
func TestTriggersOfTheVersions(t *testing.T) {
	t.Parallel()
	for name, versions := range map[string]map[int]string{
		"none was run": nil, "the original": {0: "+-+"}, "and the best": {0: "+++", 1: "-+."},
		"not of what was reverted": {2: "+++"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newLoopOf(t, newSkill(t, "original", paths{
				"evals/evals.json": fourEach, "evals/trigger-eval.json": `[{"query": "say it", "should_trigger": true},
					{"query": "what time is it", "should_trigger": false}, {"query": "say more", "should_trigger": true}]`,
			}), "4 2 0")
			k.says["better"] = []string{"4 4 0"}
			k.loop.Most, k.loop.Improver = 2, k.texts("better worse")
			k.ran("bkr")
			for version, signs := range versions {
				for i, sign := range signs {
					text := []string{"the skill is taken up", "the skill is left alone", "the skill is taken up"}[i]
					if sign != '.' {
						testdir.Put(t, triggersOf(k.Workspace, version), paths{
							fmt.Sprintf("eval-trigger-%d/grading.json", i+1): fmt.Sprintf(
								`{"expectations": [{"text": %q,
								"passed": %v, "evidence": "seen", "source": "deterministic"}]}`,
								text,
								sign == '+',
							),
						})
					}
				}
			}
			v, _ := versionsOf(t, k.Workspace)
			r, _, err := v.Report(t.Context(), BestVersion)
			require.NoError(t, err)
			text, err := json.Marshal(map[string]any{"figures": r.Triggers, "notes": r.Notes})
			require.NoError(t, err)
			golden.Line(t, string(text))
		})
	}
}

// TestSuiteStaysSame has what happens to the suite of a workspace's v0.
func TestSuiteStaysSame(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		suite       string // "" as it was
		bare, other bool   // v0 has no manifest, and manifest.json another suite
		fails       string
	}{
		"as it was":       {},
		"another text":    {"[]", false, false, `"evals/evals.json" is not what`},
		"no manifest":     {"", true, false, "has a manifest that cannot"},
		"taken of others": {"", false, true, "is not that of manifest.json: its cases"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, _ := versionsOf(t, newSkill(t, "original", paths{"evals/evals.json": fourEach}))
			if v0 := writable(t, v.Workspace, 0); c.suite != "" {
				testdir.Put(t, v0, paths{"evals/evals.json": c.suite})
			}
			if c.other {
				v.SuiteHash = "0000"
			}
			if c.bare {
				require.NoError(t, os.Remove(ManifestFile(v.Version(0))))
			}
			suite, err := v.Suite(t.Context())
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				_, _, err = v.Report(t.Context(), 0)
				require.Error(t, err, "a suite that was changed measures nothing")
				return
			}
			require.NoError(t, err)
			assert.Len(t, suite.Cases, 3)
		})
	}
}

func TestChangesOfAVersion(t *testing.T) {
	t.Parallel()
	for name, sides := range map[string][2]paths{
		"nothing":              {{"a": "x"}, {"a": "x"}},
		"more and less":        {{"a": "x"}, {"b": "x"}},
		"it runs":              {{"a": "x"}, {"a": "-rwxr-xr-x x"}},
		"it runs, and is else": {{"a": "-rwxr-xr-x x"}, {"a": "y"}},
		"a link":               {{"a": "x", "b": "x"}, {"a": "-> b", "b": "x"}},
		"a link elsewhere":     {{"a": "-> b"}, {"a": "-> c"}},
		"a directory":          {{}, {"d/": ""}},
		"odd names":            {{"a\nb": "x"}, {"c\x1b[2J": "x", "d\xff": "x"}},
		"a binary":             {{"a": "x"}, {"a": strings.Repeat("x", 7999) + "\x00"}},
		"a binary goes":        {{"a": "\x00"}, {}},
		"late zeros":           {{"a": "x"}, {"a": strings.Repeat("x", 8000) + "\x00"}},
		"zeros before":         {{"a": "\x00"}, {"a": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var kept [2]Content
			for i, list := range sides {
				kept[i] = contentOf(t, testdir.New(t, list))
			}
			var changes []string
			for _, change := range changesOf(kept[0], kept[1]) {
				changes = append(
					changes,
					fmt.Sprintf("%s %s %t %s", change.What, change.Mode, change.Binary, change.Path),
				)
			}
			golden.Line(t, strings.Join(changes, ", "))
		})
	}
}

// TestRulesOfARun has what --runs says, and whether the suite gave two numbers.
func TestRulesOfARun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		runs        int
		noisy       bool
		regime      decision.Regime
		pairs, most int
	}{
		"one":               {1, false, decision.Single, 8, 0},
		"one, though noisy": {1, true, decision.Single, 8, 0},
		"pairs":             {5, false, decision.Noisy, 5, 0},
		"auto":              {0, false, decision.Repeatable, 8, 16},
		"auto, and noisy":   {0, true, decision.Noisy, 8, 16},
	} {
		l := &Loop{Program: &program.Program{Runs: c.runs, NoCaseRegression: true}, noisy: c.noisy}
		assert.Equal(t, decision.Rule{
			Version: decision.RuleVersion, Regime: c.regime, Pairs: c.pairs, MaxPairs: c.most, Confidence: 0.95,
			NoCaseRegression: true,
		}, l.rule(), name)
	}
}

func TestOnlyGradersHaveNoise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		best, found string
		graded      bool
		says        string
	}{
		"graded":         {"0.5", "0.53", true, "+0.03 is within a grader's noise"},
		"graded, worse":  {"0.5", "0.48", true, "-0.02 is within a grader's noise"},
		"checks alone":   {"0.5", "0.53", false, ""},
		"a clear gain":   {"0.5", "0.6", true, ""},
		"the same again": {"0.5", "0.5", true, ""},
	} {
		one := suite.Case{}
		if c.graded {
			one.Expectations = []string{"it is good"}
		}
		l := &Loop{
			Suite: &evalrun.Skill{Cases: []suite.Case{one}},
			best:  evalrun.Result{Rate: metric.MustValue(c.best)},
		}
		assert.Equal(t, c.says, l.withinNoise(metric.MustValue(c.found)), name)
	}
}
