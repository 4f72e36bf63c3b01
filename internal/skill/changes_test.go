package skill

import (
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
)

// kept reads a directory as a version.
func kept(t *testing.T, dir string) workspace.Kept {
	t.Helper()
	found, err := workspace.Scan(t.Context(), dir)
	require.NoError(t, err)
	return workspace.Kept{Dir: dir, Tree: found}
}

func TestChangesOfAVersion(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes and such names need another system")
	}
	binary := strings.Repeat("x", 7999) + "\x00"
	const late = 8000 // what is looked at
	for name, c := range map[string]struct {
		before, after map[string]string // by name; "-> x" is a link, "! x" a file that runs, "/" a directory
		changes       []render.SkillChange
	}{
		"nothing": {map[string]string{"a": "x"}, map[string]string{"a": "x"}, []render.SkillChange{}},
		"another text": {
			map[string]string{"a": "x"},
			map[string]string{"a": "y"},
			[]render.SkillChange{{Path: "a", What: "changed"}},
		},
		"more and less": {
			map[string]string{"a": "x"},
			map[string]string{"b": "x"},
			[]render.SkillChange{{Path: "a", What: "deleted"}, {Path: "b", What: "added"}},
		},
		"it runs": {
			map[string]string{"a": "x"},
			map[string]string{"a": "! x"},
			[]render.SkillChange{{Path: "a", What: "mode", Mode: "0644 -> 0755"}},
		},
		"it runs, and is else": {
			map[string]string{"a": "! x"},
			map[string]string{"a": "y"},
			[]render.SkillChange{{Path: "a", What: "changed", Mode: "0755 -> 0644"}},
		},
		"a link": {
			map[string]string{"a": "x", "b": "x"},
			map[string]string{"a": "-> b", "b": "x"},
			[]render.SkillChange{{Path: "a", What: "changed", Mode: "0644 -> 0000"}},
		},
		"a link elsewhere": {
			map[string]string{"a": "-> b"},
			map[string]string{"a": "-> c"},
			[]render.SkillChange{{Path: "a", What: "changed"}},
		},
		"a directory": {
			map[string]string{},
			map[string]string{"d": "/"},
			[]render.SkillChange{{Path: "d", What: "added"}},
		},
		"odd names": {
			map[string]string{"a\nb": "x"},
			map[string]string{"c\x1b[2J": "x", "d\xff": "x"},
			[]render.SkillChange{
				{Path: `"a\nb"`, What: "deleted"},
				{Path: `"c\x1b[2J"`, What: "added"},
				{Path: `"d\xff"`, What: "added"},
			},
		},
		"a binary": {
			map[string]string{"a": "x"},
			map[string]string{"a": binary},
			[]render.SkillChange{{Path: "a", What: "changed", Binary: true}},
		},
		"a binary goes": {
			map[string]string{"a": "\x00"},
			map[string]string{},
			[]render.SkillChange{{Path: "a", What: "deleted", Binary: true}},
		},
		"a binary comes": {
			map[string]string{},
			map[string]string{"a": "\x00"},
			[]render.SkillChange{{Path: "a", What: "added", Binary: true}},
		},
		"zeros that come late": {
			map[string]string{"a": "x"},
			map[string]string{"a": strings.Repeat("x", late) + "\x00"},
			[]render.SkillChange{{Path: "a", What: "changed"}},
		},
		"a text after zeros": {
			map[string]string{"a": "\x00"},
			map[string]string{"a": "x"},
			[]render.SkillChange{{Path: "a", What: "changed"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sides []workspace.Kept
			for _, list := range []map[string]string{c.before, c.after} {
				dir := t.TempDir()
				for name, text := range list {
					file, mode := filepath.Join(dir, name), fs.FileMode(0o644)
					if target, is := strings.CutPrefix(text, "-> "); is {
						require.NoError(t, os.Symlink(target, file))
						continue
					}
					if text == "/" {
						require.NoError(t, os.Mkdir(file, 0o755))
						continue
					}
					if text[:1] == "!" {
						text, mode = text[2:], 0o755
					}
					require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
					require.NoError(t, os.Chmod(file, mode))
				}
				sides = append(sides, kept(t, dir))
			}
			assert.Equal(t, c.changes, changesOf(sides[0], sides[1]))
		})
	}
}

// TestCasesBesideEachOther has versions of which one, both or none was graded.
func TestCasesBesideEachOther(t *testing.T) {
	t.Parallel()
	rate := func(passed int64) metric.Value { return evals.RateValue(big.NewRat(passed, 2)) }
	half, whole, none := rate(1), rate(2), rate(0)
	result := func(cases ...evals.CaseScore) evalrun.Result { return evalrun.Result{Cases: cases} }
	score := func(id string, passed int) evals.CaseScore { return evals.CaseScore{ID: id, Passed: passed, Total: 2} }
	crashed := evals.CaseScore{ID: "a", Passed: 2, Total: 2, Problem: "it crashed"}
	for name, c := range map[string]struct {
		before, after evalrun.Result
		cases         []render.SkillCase
		lost          []string
	}{
		"neither":     {result(), result(), nil, nil},
		"only before": {result(score("a", 2)), result(), []render.SkillCase{{ID: "a", Before: &whole}}, nil},
		"only after":  {result(), result(score("a", 1)), []render.SkillCase{{ID: "a", After: &half}}, nil},
		"lost": {
			result(score("a", 2), score("b", 0)), result(score("a", 1), score("b", 2)),
			[]render.SkillCase{{ID: "a", Before: &whole, After: &half}, {ID: "b", Before: &none, After: &whole}},
			[]string{"a"},
		},
		"crashed, and so": {
			result(score("a", 2)), result(crashed),
			[]render.SkillCase{{ID: "a", Before: &whole, After: &none}},
			[]string{"a"},
		},
		"was not whole": {
			result(score("a", 1)), result(score("a", 0)),
			[]render.SkillCase{{ID: "a", Before: &half, After: &none}},
			nil,
		},
		"had crashed": {
			result(crashed), result(score("a", 1)),
			[]render.SkillCase{{ID: "a", Before: &none, After: &half}},
			nil,
		},
	} {
		assert.Equal(t, c.cases, casesOf(c.before, c.after), name)
		assert.Equal(t, c.lost, lostCases(c.before, c.after), name)
	}
	several := evals.Aggregate([]evals.CaseScore{score("a", 2)}, []evals.CaseScore{score("a", 2)},
		[]evals.CaseScore{score("a", 1)})
	assert.Empty(t, lostCases(result(score("a", 2)), evalrun.Result{Cases: several}), "one run of three loses nothing")
	assert.Equal(t, decision.CaseRates{"case.a": {whole, whole, half}}, caseRates(evalrun.Result{Cases: several}))
}

func TestFailuresOfAReport(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []render.SkillFailure{}, failuresOf(nil), "no list is null as JSON")
	assert.Equal(t, []render.SkillFailure{
		{Case: "b", Text: "it greets", Evidence: "no greeting"},
		{Case: "b", Text: "it is short"},
		{Case: "c", Text: "the whole case", Evidence: "it crashed"},
	}, failuresOf([]evals.CaseScore{
		{ID: "a", Passed: 1, Total: 1},
		{ID: "b", Failed: []evals.Graded{{Text: "it greets", Evidence: "no greeting"}, {Text: "it is short"}}},
		{ID: "c", Problem: "it crashed", Failed: []evals.Graded{{Text: "of an earlier run"}}},
	}))
}

// TestAttemptsAreHeldAgainstTheBestOfTheirTime is what the improver is told of earlier
// iterations.
func TestAttemptsAreHeldAgainstTheBestOfTheirTime(t *testing.T) {
	t.Parallel()
	value := func(text string) *metric.Value { v := metric.MustValue(text); return &v }
	s := &state{rows: []results.Row{
		{Action: results.Baseline, Score: value("0.5")},
		{Iteration: 1, Action: results.Reverted, Score: value("0.4"), Changelog: "one"},
		{Iteration: 2, Action: results.Kept, Score: value("0.7"), Changelog: "two"},
		{Iteration: 3, Action: results.Reverted, Changelog: "three"},
		{Iteration: 4, Action: results.Baseline, Score: value("0.2"), Changelog: "v2 measured anew"},
		{Iteration: 5, Action: results.Kept, Score: value("0.3"), Changelog: "five"},
	}}
	assert.Equal(t, []history.Attempt{
		{
			Iteration: 1, Outcome: history.Rejected, Metric: value("0.4"), PreviousBest: value("0.5"), Delta: "-0.1",
			Summary: "one",
		},
		{
			Iteration: 2, Outcome: history.Accepted, Metric: value("0.7"), PreviousBest: value("0.5"), Delta: "+0.2",
			Summary: "two",
		},
		{Iteration: 3, Outcome: history.Rejected, PreviousBest: value("0.7"), Summary: "three"},
		{
			Iteration: 5, Outcome: history.Accepted, Metric: value("0.3"), PreviousBest: value("0.2"), Delta: "+0.1",
			Summary: "five",
		},
	}, s.attempts())
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
		s := &state{Loop: &Loop{Runs: c.runs, NoCaseRegression: true}, noisy: c.noisy}
		rule := s.rule()
		assert.Equal(t, decision.Rule{
			Version: decision.RuleVersion, Regime: c.regime, Pairs: c.pairs, MaxPairs: c.most, Confidence: 0.95,
			NoCaseRegression: true,
		}, rule, name)
	}
}

func TestWhetherACaseCameToItsEnd(t *testing.T) {
	t.Parallel()
	ended, crashed := evals.CaseScore{ID: "a"}, evals.CaseScore{ID: "b", Problem: "it crashed"}
	for name, c := range map[string]struct {
		runs [][]evals.CaseScore
		says string
	}{
		"none was run":   {nil, ""},
		"one did":        {[][]evals.CaseScore{{crashed, ended}}, ""},
		"one did, later": {[][]evals.CaseScore{{crashed}, {crashed, ended}}, ""},
		"none did": {
			[][]evals.CaseScore{{crashed}, {{ID: "c", Problem: "killed"}}},
			"every case failed before it could be graded (b: it crashed)",
		},
		"none, of no problem": {[][]evals.CaseScore{{}}, ""},
	} {
		assert.Equal(t, c.says, Measured{Rate: new(big.Rat), Runs: c.runs}.crashed(), name)
	}
}
