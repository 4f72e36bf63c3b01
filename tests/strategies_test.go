package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

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

func TestAPopulationEvolves(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	w := newWorld(t, map[string]string{".autoloop/programs/p.md": evolving, "value.txt": "1\n"})
	results := w.iterate("-n", "14")
	require.Len(t, results, 14)
	assert.Len(t, w.proposals(), 14)
	parents := regexp.MustCompile(`(?s)## Where you begin.*?- iteration (\d+), metric`)
	grown, inspired := 0, 0
	incumbent, ledger := "1", w.ledger()
	for _, result := range results {
		n := result.Iteration
		began, prompt := w.beside(fmt.Sprintf("began-%d", n)), w.beside(fmt.Sprintf("prompt-%d", n))
		if match := parents.FindStringSubmatch(prompt); match != nil {
			grown++
			assert.Equal(t, w.beside("made-"+match[1]), began, "iteration %d begins with the files of iteration %s",
				n, match[1])
			assert.Contains(t, ledger, `"grown_from":{"iteration":`+match[1]+`,`, "so does the ledger")
		} else {
			assert.Equal(t, incumbent, strings.TrimSpace(began), "iteration %d begins with the incumbent", n)
		}
		if strings.Contains(prompt, "as inspiration") {
			inspired++
		}
		if result.Outcome == "accepted" {
			incumbent = strings.TrimSpace(w.beside(fmt.Sprintf("made-%d", n)))
			assert.Equal(t, incumbent, w.git("show", *result.Commit+":value.txt"))
		}
	}
	assert.Positive(t, grown, "some begin with another program than the incumbent")
	assert.Positive(t, inspired)
	assert.Equal(t, incumbent, w.git("show", "autoloop/p:value.txt"))
	replayed := w.binary("iterate", "replay", "p")
	assert.Zero(t, replayed.code, replayed.stdout)
	assert.Equal(t, grown, strings.Count(ledger, `"grown_from"`))
}

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

func TestOneFailingTestAtATime(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	w := newWorld(t, map[string]string{".autoloop/programs/p.md": failing, "value.txt": "start\n"})
	lines := "wrong\nalpha\nno\nnot\nnever\ngamma\nbeta\n"
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "lines"), []byte(lines), 0o600))
	w.iterate("-n", "7")
	var focus []string
	for _, event := range w.facts("decided") {
		focus = append(focus, fmt.Sprint(event["focus"]))
	}
	assert.Equal(t, []string{
		"test alpha", "test alpha", // until it passes
		"test beta", "test beta", "test beta", // three attempts are enough
		"test gamma", "test beta",
	}, focus)
	assert.Contains(t, w.beside("prompt-3"), "## The test to make pass")
	assert.Contains(t, w.beside("prompt-3"), "```text\ntest beta\n```")
}
