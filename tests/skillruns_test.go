package tests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

func TestSkillRunsInPairs(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `echo beta >> SKILL.md; echo "say beta"`)
	end := w.skillEnd("-n", "1", "--runs", "4")
	require.Len(t, end.Iterations, 2)
	assert.Equal(t, "kept", end.Iterations[1].Action, end.Iterations[1].Changelog)
	assert.Contains(t, end.Iterations[1].Changelog, "this confirms, in new trees")
	assert.InDelta(t, 0.6667, *end.Iterations[1].Score, 0.001)
	assert.True(t, w.exists(ws+"/iteration-1/eval-2/grading.json"), "the first run")
	for _, runs := range []string{"0", "2", "3", "-1", "x", "1001"} {
		a := w.skill("--runs", runs)
		assert.Equal(t, 2, a.code, runs)
		assert.Contains(t, a.stderr, "a number from 4 to 1000")
	}
}

func (w *world) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(w.dir, name))
	return err == nil
}

// slips is an executor that fails the first case in the last of the eighteen runs
// that a candidate with the word beta gets from eight pairs, and never else.
const slips = `cp "$AUTOLOOP_SKILL/SKILL.md" outputs/out.md
	if grep -q beta outputs/out.md && grep -q "the first" "$AUTOLOOP_PROMPT"; then
		echo x >> "$SIDE/count"; test "$(grep -c x "$SIDE/count")" -ne 18 || echo beta > outputs/out.md
	fi`

// slipWorld has two cases, of which slips fails the first at the end.
func slipWorld(t *testing.T, front string) *world {
	t.Helper()
	w := skillWorld(t, front, `f=SKILL.md; test -f $f || f=s/SKILL.md; echo beta >> $f; echo "say beta"`)
	check := func(word string) string { return `{"type": "file_contains", "file": "out.md", "text": "` + word + `"}` }
	w.write("s/evals/evals.json", `[{"id": 1, "prompt": "the first", "deterministic_checks": [`+check("alpha")+`]},
		{"id": 2, "prompt": "the second", "deterministic_checks": [`+check("beta")+`, `+check("gamma")+`]}]`)
	w.git("commit", "--quiet", "--all", "--message", "two prompts")
	return w
}

// TestSkillScoreOfManyRunsIsTheDecisions holds score, report and the rule of lost
// cases to the runs that decided: no single one of them says anything.
func TestSkillScoreOfManyRunsIsTheDecisions(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	w := slipWorld(t, "")
	end := w.skillEnd("-n", "1", "--runs", "8", "--settings", w.settings("no-case-regression: true"), "--executor-command", slips)
	require.Len(t, end.Iterations, 2)
	require.Equal(t, "kept", end.Iterations[1].Action, end.Iterations[1].Changelog)
	require.NotContains(t, end.Iterations[1].Changelog, "regressed-cases")
	assert.InDelta(t, 0.75, *end.Iterations[1].Score, 1e-9)

	a := w.binary("iterate", "skill", "score", ws, "1", "--json")
	require.Zero(t, a.code, a.stderr)
	var got struct {
		Score float64
		Runs  []struct {
			Dir   string
			Score float64
		}
		Cases []struct {
			Passed, Total int
			PassRate      float64 `json:"pass_rate"`
			Runs          []int
		}
	}
	require.NoError(t, json.Unmarshal([]byte(a.stdout), &got))
	assert.InDelta(t, 0.75, got.Score, 1e-9, "the score that it was kept with")
	require.Len(t, got.Runs, 8)
	assert.Equal(t, "run-18", got.Runs[7].Dir, "the warm-ups and the runs before the confirmation do not count")
	assert.InDelta(t, 0.25, got.Runs[7].Score, 1e-9)
	assert.Equal(t, []int{1, 1, 1, 1, 1, 1, 1, 0}, got.Cases[0].Runs)
	assert.Equal(t, []int{7, 8, 8, 16}, []int{got.Cases[0].Passed, got.Cases[0].Total, got.Cases[1].Passed, got.Cases[1].Total})
	assert.InDelta(t, 0.875, got.Cases[0].PassRate, 1e-9)
	assert.Contains(t, w.binary("iterate", "skill", "score", ws, "1").stdout, "score 0.75, the median of 8 runs")
	assert.Contains(t, w.binary("iterate", "skill", "score", ws, "0").stdout, "score 0.5\n")

	a = w.binary("iterate", "log", ws)
	require.Zero(t, a.code, a.stderr)
	assert.NotContains(t, a.stdout, "Cases that the best version lost")
	assert.Contains(t, a.stdout, "(in 1 of 8 runs: does not contain \"alpha\")")
	assert.Contains(t, a.stdout, "(in 8 of 8 runs: does not contain \"gamma\")")
	end = w.skillEnd("-n", "1", "--runs", "auto", "--executor-command", slips, "--agent-command", `cp "$AUTOLOOP_PROMPT" "$SIDE/said"; echo no >> SKILL.md`)
	assert.Equal(t, "reverted", end.Iterations[0].Action)
	said, err := os.ReadFile(filepath.Join(w.side, "said"))
	require.NoError(t, err)
	assert.Contains(t, string(said), "case 2: 8 of 16", "the improver hears of all runs that decided, when it goes on too")

	w.write(ws+"/iteration-1/runs.json", `{"schema": 1, "runs": [{"dir": "../iteration-0", "side": "candidate", "counts": true}]}`)
	a = w.binary("iterate", "skill", "score", ws, "1")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stderr, "is no run of this iteration")
	w.write(ws+"/iteration-1/runs.json", `{"schema": 1, "ru`)
	assert.Contains(t, w.binary("iterate", "skill", "score", ws, "1").stderr, "was cut off")
}

func TestSkillProgramLosesNoCaseByOneRun(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	w := slipWorld(t, "no-case-regression: true\nevaluation-runs: 8")
	program := w.read(".autoloop/programs/p.md")
	w.write(".autoloop/programs/p.md", strings.Replace(program, `cp "$AUTOLOOP_SKILL/SKILL.md" outputs/out.md`, `sh "$SIDE/slips"`, 1))
	w.git("commit", "--quiet", "--all", "--message", "slip")
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "slips"), []byte(slips), 0o600))
	got := w.one()
	assert.Equal(t, "accepted", got.Outcome, got.Reasons)
	assert.NotContains(t, strings.Join(got.Reasons, "\n"), "regressed-cases")
	assert.Contains(t, w.ledger(), `"case.1":[1,1,1,1,1,1,1,0]`)
	a := w.binary("iterate", "replay", "p")
	assert.Zero(t, a.code, a.stdout)
}
