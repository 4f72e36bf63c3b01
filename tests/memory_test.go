package tests

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
