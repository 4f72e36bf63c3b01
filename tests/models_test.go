package tests

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/models/client/modeltest"
)

const askingProgram = `---
metric: m
evaluation-runs: 1
---
## Goal
Move the number.
## Target
- ` + "`value.txt`" + `
## Evaluation
` + "```sh" + `
test -z "${AUTOLOOP_MODELS_KEY-}${GITHUB_TOKEN-}" || { echo "it sees a key" >&2; exit 1; }
printf '{"m": %s}\n' "$(cat value.txt)"
` + "```" + `
`

const theKey = "the-key-of-this-endpoint"

// askingProject is a project whose models are asked at a scripted server.
func askingProject(t *testing.T, answers ...modeltest.Answer) (*project, *modeltest.Server) {
	t.Helper()
	server := modeltest.New(t, answers...)
	w := newProject(t, map[string]string{".autoloop/programs/p.md": askingProgram, "value.txt": "1\n"})
	w.env = append(w.env, "AUTOLOOP_MODELS_URL="+server.URL+"/v1", "AUTOLOOP_MODELS_KEY="+theKey,
		"GITHUB_TOKEN=the-workflow-token")
	return w, server
}

// TestCostOfNight types the commands of docs/howto/budgets.md.
func TestCostOfNight(t *testing.T) {
	t.Parallel()
	page := readText(t, "../docs/howto/budgets.md")
	edit := func(from, to string) modeltest.Answer {
		return modeltest.Answer{
			Text:  "PLAN: more\nFILE: value.txt\n<<<<<<< SEARCH\n" + from + "\n=======\n" + to + "\n>>>>>>> REPLACE\n",
			Usage: modeltest.Tokens{Input: 700, Output: 30},
		}
	}
	w, _ := askingProject(t, edit("1", "2"), edit("2", "3"))
	require.Len(t, w.iterate("--agent", "models", "--model", "gpt-5-mini", "-n", "2"), 2)
	w.env = append(w.env, "PATH="+binaries+string(os.PathListSeparator)+os.Getenv("PATH"))
	typed := 0
	for _, block := range docBlocks(page) {
		if block.attribute("test") != "TestCostOfNight" {
			continue
		}
		for _, c := range docCommands(block.text) {
			printed := w.run(w.dir, "bash", "-c", c.line)
			assert.True(t, asDocumented(c.prints, printed), "$ %s\nprints:\n%s", c.line, printed)
			typed++
		}
	}
	assert.Equal(t, 2, typed)
}
