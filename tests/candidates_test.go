package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/models/client/modeltest"
	"github.com/org/autoloop/tests/long"
)

// several is a program with as many proposals as the front says; each runs the
// shell script SIDE/propose with the numbers of the iteration and its own. Every
// evaluation leaves a line beside the repository.
const several = `---
%s
metric: m
evaluation-runs: 1
agent-command: sh "$SIDE/propose" "$AUTOLOOP_ITERATION" "$AUTOLOOP_PROPOSAL"
env: [SIDE]
---
## Goal
Move the number.
## Target
- ` + "`value.txt`" + `
## Evaluation
` + "```sh" + `
cat value.txt >> "$SIDE/measured"
printf '{"m": %%s}\n' "$(cat value.txt)"
` + "```" + `
`

func severalWorld(t *testing.T, front, propose string) *world {
	t.Helper()
	w := newWorld(t, map[string]string{
		".autoloop/programs/p.md": fmt.Sprintf(several, front), "value.txt": "1\n",
		"other.txt": "x\n",
	})
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "propose"), []byte(propose), 0o600))
	return w
}

// proposals are the lines of the candidates in the ledger.
func (w *world) proposals() []map[string]any {
	return w.facts("proposed")
}

// TestAgentsWithModelsOfTheirOwn: the same agent asks two models, and who names
// none the program's.
func TestAgentsWithModelsOfTheirOwn(t *testing.T) {
	long.Only(t, long.Suites)
	t.Parallel()
	w := severalWorld(t, "agents: [{agent: models, model: m-1}, models, {agent: models, model: m-3}]\nmodel: m-2", "")
	server := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Answer {
		return modeltest.Text("PLAN: by " + r.Model + "\nFILE: value.txt\n<<<<<<< WHOLE\n" + strings.TrimPrefix(r.Model,
			"m-") + "\n>>>>>>> WHOLE\n")
	})
	w.env = append(w.env, "AUTOLOOP_MODELS_URL="+server.URL+"/v1")
	result := w.one()
	assert.Equal(t, "accepted", result.Outcome, result.Reasons)
	assert.Equal(t, "3", text(result.Metric))
	models := map[string]string{}
	for _, p := range w.proposals() {
		models[fmt.Sprint(p["proposal"])] = fmt.Sprint(p["model"])
	}
	assert.Equal(t, map[string]string{"1": "m-1", "2": "m-2", "3": "m-3"}, models)
	asked := func(args ...string) (names []string) {
		before := len(server.Requests())
		w.one(args...)
		for _, r := range server.Requests()[before:] {
			names = append(names, r.Model)
		}
		return names
	}
	assert.Equal(t, []string{"m-9", "m-9", "m-9"}, asked("--model", "m-9"), "the flag is for all of them")
	assert.Equal(t, []string{"m-2"}, asked("--agent", "models"), "--agent takes the place of the list")

	w.write(".autoloop/programs/p.md",
		strings.Replace(w.read(".autoloop/programs/p.md"), "model: m-3", "model: [m-3]", 1))
	a := w.binary("iterate", "--program", "p")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.stderr, ".autoloop/programs/p.md:2: `agents`: `model`: it is a list; give the name of a model")
}
