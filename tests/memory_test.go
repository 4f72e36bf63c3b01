package tests

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// handingBack is an agent that also writes down what it learned, and keeps the
// prompt beside the repository.
const handingBack = `---
metric: m
evaluation-runs: 1
agent: command
agent-command: |
  cp "$AUTOLOOP_PROMPT" "$SIDE/prompt.md"
  echo "- LESSON: The number $(cat value.txt) is few." > .autoloop-notes.md
  echo "FORECLOSED: half of it <b>" >> .autoloop-notes.md
  echo 0 > value.txt
env: [SIDE]
---
## Goal
Move the number.
## Target
- ` + "`value.txt`" + `
## Evaluation
` + "```sh" + `
test ! -e .autoloop-notes.md
printf '{"m": %s}\n' "$(cat value.txt)"
` + "```" + `
`

func TestAgentsHandBackWhatTheyLearned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{".autoloop/programs/p.md": handingBack, "value.txt": "1\n"})
	results := w.iterate("-n", "4")
	require.Len(t, results, 4)
	assert.Equal(t, "rejected", results[0].Outcome, results[0].Reasons)
	assert.Contains(t, results[0].Reasons[0], "0", "the notes are no part of the change")
	state := w.memory("p.md")
	assert.Equal(t, 1, strings.Count(state, "- The number 1 is few. (iteration 1)"), state)
	assert.Equal(t, 1, strings.Count(state, "is few"), "it is said once")
	assert.Contains(t, state, "- half of it &lt;b&gt; (iteration 1)")
	assert.Contains(t, w.ledger(), `"lessons":["The number 1 is few."]`)
	prompt := w.beside("prompt.md")
	assert.Contains(t, prompt, "The number 1 is few. (iteration 1)")
	assert.Contains(t, prompt, "The last 3 attempts were all rejected")
}
