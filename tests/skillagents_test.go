package tests

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/models/client/modeltest"
)

// skilled is a coding agent that is run as it is, with the place where it looks
// for skills and the way in which it takes one up.
type skilled struct {
	realAgent

	dir    string
	takeUp func(a realAgent) modeltest.Answer
	// loads says that what it takes up is printed here: opencode's tool lists
	// the skill's files with ripgrep, which it fetches from the network.
	loads bool
}

func skilledAgents() []skilled {
	return []skilled{
		{
			codexAgent(), ".agents/skills",
			func(a realAgent) modeltest.Answer { return a.shell("cat .agents/skills/greet/SKILL.md") }, true,
		},
		{opencodeAgent(), ".opencode/skills", func(realAgent) modeltest.Answer {
			return modeltest.Use("skill", map[string]string{"name": "greet"})
		}, false},
	}
}

const (
	greetDescription = "Greets people the way that our house does it"
	greetExpectation = "EXPECTATION-the-greeting-is-warm"
	greetLiteral     = "CHECKED-Ada"
)

// greetWorld has the skill greet with a case, its trigger queries, and a judge on
// a server of its own.
func greetWorld(t *testing.T, agent skilled, answers ...modeltest.Answer) (w *world, agents, judge *modeltest.Server) {
	t.Helper()
	w, agents = modelWorld(t, agent.realAgent, "", answers...)
	judge = modeltest.New(t,
		modeltest.Text(`{"expectations": [{"number": 1, "passed": true, "evidence": "it says dear"}]}`))
	w.env = append(w.env, "AUTOLOOP_MODELS_URL="+judge.URL+"/v1", "AUTOLOOP_MODELS_KEY="+agentKey)
	w.write("s/SKILL.md", "---\nname: greet\ndescription: "+greetDescription+"\n---\nSay dear. THE-BODY-OF-THE-SKILL\n")
	w.write("s/evals/evals.json", `[{"id": 1, "prompt": "Say hello to Ada.", "expected_output": "EXPECTED-OUTPUT", `+
		`"expectations": ["`+greetExpectation+`"], "deterministic_checks": [
		{"type": "file_contains", "file": "out.txt", "text": "`+greetLiteral+
		`"}, {"type": "file_not_contains", "file": "tree.txt", "text": "evals"},
		{"type": "file_contains", "file": "tree.txt", "text": "`+agent.dir+`/greet/SKILL.md"}]}]`)
	w.write("s/evals/trigger-eval.json",
		`[{"query": "Please greet Bob for me.", "should_trigger": true}, {"query": "How should I welcome Eve?", `+
			`"should_trigger": true}]`)
	return w, agents, judge
}

// TestRealAgentsWorkOnSkills runs a case and trigger queries through coding
// agents as they are.
func TestRealAgentsWorkOnSkills(t *testing.T) {
	t.Parallel()
	for _, agent := range skilledAgents() {
		t.Run(agent.name, func(t *testing.T) {
			t.Parallel()
			w, agents, judge := greetWorld(t, agent,
				agent.shell("find . > outputs/tree.txt; echo 'dear "+greetLiteral+
					"' > outputs/out.txt; echo PRINTED-BY-THE-$((40+2))"), modeltest.Text("FINAL-WORDS-OF-THE-CASE"),
				agent.takeUp(agent.realAgent), modeltest.Text("Dear Bob."),
				agent.shell("find . -name SKILL.md"), modeltest.Text("There is a skill, which I leave alone."),
			)
			a := w.binary("iterate", "eval", "s", "--agent", agent.name, "--model", agent.model, "--settings",
				w.settings("judge: api", "judge-model: judge-model", "jobs: 1"), "--json", "--out", "kept")
			require.Zero(t, a.code, a.stderr)
			w.noKey(a.stdout, a.stderr)
			w.alone()
			var got struct {
				Score    float64
				Cases    []struct{ Failed []string }
				Triggers struct {
					Score float64
					Cases []struct{ Passed int }
				}
			}
			require.NoError(t, json.Unmarshal([]byte(a.stdout), &got))
			assert.InDelta(t, 1, got.Score, 1e-9, got.Cases)
			passed := []int{}
			for _, c := range got.Triggers.Cases {
				passed = append(passed, c.Passed)
			}
			assert.Equal(t, []int{1, 0}, passed, "it was taken up, and seen but left alone")
			assert.InDelta(t, 0.5, got.Triggers.Score, 1e-9)

			require.NotEmpty(t, agents.Requests())
			for _, request := range agents.Requests() {
				for _, secret := range []string{
					greetExpectation, "EXPECTED-OUTPUT", "file_contains", "deterministic",
					"should_trigger", "trigger-eval",
				} {
					assert.False(t, request.Has(secret), "%s reaches the agent", secret)
				}
			}
			assert.False(t, agents.Requests()[0].Has(greetLiteral), "what a check looks for reaches the agent")
			assert.True(t, agents.Requests()[0].Has(greetDescription), "the agent does not find the skill by itself")
			assert.True(t, judge.Requests()[0].Has(greetExpectation))
		})
	}
}
