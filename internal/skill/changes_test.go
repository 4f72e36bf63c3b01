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
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill/workspace"
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
