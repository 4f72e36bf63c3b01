package tests

// evolving is a program whose agent adds a line to what it finds, and notes
// what it found, what it made and what it was told.
const evolving = `---
metric: m
evaluation-runs: 1
strategy: openevolve
agent: command
agent-command: |
  cp value.txt "$SIDE/began-$AUTOLOOP_ITERATION"
  cp "$AUTOLOOP_PROMPT" "$SIDE/prompt-$AUTOLOOP_ITERATION"
  echo "$AUTOLOOP_ITERATION" >> value.txt
  cp value.txt "$SIDE/made-$AUTOLOOP_ITERATION"
  echo "add $AUTOLOOP_ITERATION"
env: [SIDE]
---
## Goal
Find good sums.
## Target
- ` + "`value.txt`" + `
## Evaluation
` + "```sh" + `
printf '{"m": %s}\n' "$(awk '{s += $1 * $1} END {print s % 17}' value.txt)"
` + "```" + `
`

// failing is a program of three tests, each of which wants its own line.
const failing = `---
metric: passed
evaluation-runs: 1
strategy: test-driven
agent: command
agent-command: |
  cp "$AUTOLOOP_PROMPT" "$SIDE/prompt-$AUTOLOOP_ITERATION"
  sed -n "${AUTOLOOP_ITERATION}p" "$SIDE/lines" >> value.txt
env: [SIDE]
---
## Goal
Make the tests pass.
## Target
- ` + "`value.txt`" + `
## Evaluation
` + "```sh" + `
n=0; list=""
for name in alpha beta gamma; do
  if grep -q "$name" value.txt; then n=$((n + 1)); else list="$list,\"test $name\""; fi
done
printf '{"passed": %s, "failing": [%s]}\n' "$n" "${list#,}"
` + "```" + `
`
