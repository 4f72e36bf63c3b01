package tests

import (
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/models/client/modeltest"
	"github.com/org/autoloop/tests/long"
)

// oneGrading is what a grader's answer costs: 1050 tokens, of claude-sonnet-4-5
// 600 · 3 + 400 · 0.3 + 50 · 15 dollars for a million.
const (
	oneGrading    = 1050
	oneGradingUSD = 0.00267
)

// gradedWorld is a skill of three cases with an expectation each, which a model
// grades: it is met once the skill says beta. The agent adds beta at first, and
// a word of no use from then on.
func gradedWorld(t *testing.T, front string) (*world, *modeltest.Server) {
	t.Helper()
	grader := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Answer {
		if r.Has("said-beta") {
			return modeltest.Text(`{"expectations": [{"number": 1, "passed": true, "evidence": "it says beta"}]}`)
		}
		return modeltest.Text(`{"expectations": [{"number": 1, "passed": false, "evidence": "it does not"}]}`)
	})
	w := skillWorld(t, front,
		`if [ "$AUTOLOOP_ITERATION" = 1 ]; then echo beta >> s/SKILL.md; else echo nothing >> s/SKILL.md; fi`)
	const file = ".autoloop/programs/p.md"
	text := strings.Replace(w.read(file), "judge: off",
		"judge: api\njudge-model: claude-sonnet-4-5\njobs: 1\ntarget-metric: 0.99", 1)
	w.write(file, strings.Replace(text, `cp "$AUTOLOOP_SKILL/SKILL.md" outputs/out.md`,
		`sed s/^/said-/ "$AUTOLOOP_SKILL/SKILL.md" > outputs/out.md`, 1))
	var cases []string
	for _, id := range []string{"1", "2", "3"} {
		check := ""
		if id == "3" { // never perfect
			check = `, "deterministic_checks": [{"type": "file_exists", "file": "nowhere"}]`
		}
		cases = append(cases, `{"id": `+id+`, "prompt": "p", "expectations": ["it says more"]`+check+`}`)
	}
	w.write("s/evals/evals.json", "["+strings.Join(cases, ",")+"]")
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message", "grade it")
	w.env = append(w.env, "ANTHROPIC_BASE_URL="+grader.URL, "ANTHROPIC_API_KEY="+theKey)
	return w, grader
}

// expenses are what the events of a kind say that measuring used.
func (w *world) expenses(kind string) []map[string]any {
	var list []map[string]any
	for _, event := range w.facts(kind) {
		if used, given := event["evaluation"].(map[string]any); given {
			list = append(list, used)
		}
	}
	return list
}

func tokensOf(t *testing.T, expense map[string]any) int {
	t.Helper()
	tokens, known := expense["tokens"].(float64)
	require.True(t, known, "%v", expense)
	return int(tokens)
}

// TestGradersCountAgainstTheBudget: what a grader uses is in the records and in
// the answer, and no case begins beyond the budget.
func TestGradersCountAgainstTheBudget(t *testing.T) {
	long.Only(t, long.Suites)
	t.Parallel()
	w, grader := gradedWorld(t, "budget: {tokens: 5000, per: program}")
	a := w.binary("iterate", "--program", "p", "--json", "-n", "3")
	require.Zero(t, a.code, a.stderr)
	got := w.decode(a.stdout)
	require.Len(t, got, 2)
	assert.Equal(t, "error", got[0].Outcome)
	assert.Contains(t, got[0].Reasons[0], "the budget of 1850 tokens is used up with 2 of 3 cases begun")
	assert.Equal(t, "budget: 5250 of 5000 tokens used by this program; raise the limit to go on", got[1].Stopped)
	assert.Len(t, grader.Requests(), 5, "nobody is asked beyond the budget")

	baseline, decided := w.expenses("measured"), w.expenses("decided")
	require.Len(t, baseline, 1)
	require.Len(t, decided, 1)
	assert.Equal(t, 3*oneGrading, tokensOf(t, baseline[0]))
	assert.Equal(t, 2*oneGrading, tokensOf(t, decided[0]))
	assert.InDelta(t, 3*oneGradingUSD, baseline[0]["cost_usd"], 1e-9)
	assert.InDelta(t, 3, baseline[0]["unknown_tokens"], 0, "the command that works on the cases does not say")
	var shown []struct{ Evaluation map[string]any }
	require.NoError(t, json.Unmarshal([]byte(a.stdout), &shown))
	assert.Equal(t, 5*oneGrading, tokensOf(t, shown[0].Evaluation), "the baseline and the candidate")
	assert.Zero(t, w.binary("iterate", "replay", "p").code)

	w.write(".autoloop/programs/p.md",
		strings.Replace(w.read(".autoloop/programs/p.md"), "tokens: 5000", "tokens: 50000", 1))
	assert.Equal(t, "rejected", w.one().Outcome, "the second iteration, with a higher limit")
	assert.Len(t, grader.Requests(), 8)
}

// TestNobodyInASuiteSeesTheGradersKey: neither who works on a case nor a check
// finds the key of the grader, or the workflow's token, in any process that it
// may look at.
func TestNobodyInASuiteSeesTheGradersKey(t *testing.T) {
	long.Only(t, long.Suites)
	t.Parallel()
	w, _ := gradedWorld(t, "isolation: off")
	key, token := rand.Text(), rand.Text() // which no process of another test has
	w.env = append(w.env, "ANTHROPIC_API_KEY="+key, "GITHUB_TOKEN="+token)
	look := `cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -a -e ` + key + ` -e ` + token +
		` >> \"$SIDE/seen\"; echo . >> \"$SIDE/looked\"`
	shell := strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(look)
	w.write("s/evals/evals.json",
		strings.Replace(w.read("s/evals/evals.json"), `{"type": "file_exists", "file": "nowhere"}`,
			`{"type": "shell_command", "command": "`+strings.ReplaceAll(look, "$SIDE", w.side)+`; false"}`, 1))
	w.write("look.sh", shell+"\n")
	w.frontmatter("setup: sh look.sh")
	const file = ".autoloop/programs/p.md"
	w.write(file, strings.Replace(w.read(file), "executor-command: ", "executor-command: sh look.sh; ", 1))
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message", "look")
	a := w.asNobody("iterate", "--program", "p", "--json")
	require.Zero(t, a.code, a.stderr)
	got := w.decode(a.stdout)
	assert.Equal(t, "accepted", got[0].Outcome, got[0].Reasons)
	assert.GreaterOrEqual(t, strings.Count(w.beside("looked"), "."), 2*(3+1+1), "executors, checks and setup looked")
	assert.Empty(t, w.beside("seen"))
}
