package tests

import (
	"strings"
	"testing"

	"github.com/org/autoloop/internal/agent/models/client/modeltest"
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
