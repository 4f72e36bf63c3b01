package skill

import (
	"fmt"
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
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/tests/golden"
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
	type tree = map[string]string // by name; "-> x" is a link, "! x" a file that runs, "/" a directory
	for name, c := range map[string]struct {
		before, after tree
		// what, mode, binary and name of each
	}{
		"nothing":              {tree{"a": "x"}, tree{"a": "x"}},
		"more and less":        {tree{"a": "x"}, tree{"b": "x"}},
		"it runs":              {tree{"a": "x"}, tree{"a": "! x"}},
		"it runs, and is else": {tree{"a": "! x"}, tree{"a": "y"}},
		"a link":               {tree{"a": "x", "b": "x"}, tree{"a": "-> b", "b": "x"}},
		"a link elsewhere":     {tree{"a": "-> b"}, tree{"a": "-> c"}},
		"a directory":          {tree{}, tree{"d": "/"}},
		"odd names": {
			tree{"a\nb": "x"},
			tree{"c\x1b[2J": "x", "d\xff": "x"},
		},
		"a binary":      {tree{"a": "x"}, tree{"a": strings.Repeat("x", 7999) + "\x00"}},
		"a binary goes": {tree{"a": "\x00"}, tree{}},
		"late zeros":    {tree{"a": "x"}, tree{"a": strings.Repeat("x", 8000) + "\x00"}},
		"zeros before":  {tree{"a": "\x00"}, tree{"a": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sides []workspace.Kept
			for _, list := range []tree{c.before, c.after} {
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
			var changes []string
			for _, change := range changesOf(sides[0], sides[1]) {
				changes = append(changes, fmt.Sprintf("%s %s %t %s", change.What, change.Mode, change.Binary,
					change.Path))
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
	}{
		"none was run":   {nil},
		"one did":        {[][]evals.CaseScore{{crashed, ended}}},
		"one did, later": {[][]evals.CaseScore{{crashed}, {crashed, ended}}},
		"none did": {
			[][]evals.CaseScore{{crashed}, {{ID: "c", Problem: "killed"}}},
		},
		"none, of no problem": {[][]evals.CaseScore{{}}},
	} {
		golden.Row(t, name, Measured{Rate: new(big.Rat), Runs: c.runs}.crashed())
	}
}
