package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// noisy is a program whose metric is the number in value.txt plus the next
// line of a file that only the test writes; every run leaves a line with the
// number and its directory. Its agent writes line N of `values`, or a comment.
const noisy = `---
metric: m
metric_direction: higher
plateau: off
isolation: off
agent: command
agent-command: bash "$SIDE/agent"
env: [SIDE]
%s
---
## Goal
Move the number.
## Target
- ` + "`value.txt`" + `
## Evaluation
` + "```bash" + `
n=$(<"$SIDE/count")
echo $((n+1)) > "$SIDE/count"
mapfile -t noise < "$SIDE/noise"
read -r value < value.txt
echo "$value $PWD" >> "$SIDE/runs"
set -- ${noise[n]:-0 0}
echo "{\"m\": $(($value + $1)), \"rail\": $((${2:-0} + ${value}))}"
` + "```" + `
`

// noisyProject is a project with that program. A line of noise is added to the
// metric; a second number on it to the metric `rail`.
func noisyProject(t *testing.T, front string, noise []string, tries ...string) *project {
	t.Helper()
	w := newProject(t, map[string]string{".autoloop/programs/p.md": fmt.Sprintf(noisy, front), "value.txt": "1000\n"})
	w.aside("noise", strings.Join(noise, "\n"))
	w.aside("count", "0")
	w.aside("runs", "")
	w.aside("values", strings.Join(tries, "\n"))
	w.aside("agent", `value=$(sed -n "${AUTOLOOP_ITERATION}p" "$SIDE/values")
if [ -n "$value" ]; then echo "$value" > value.txt; else echo "# $AUTOLOOP_ITERATION" >> value.txt; fi`)
	return w
}

func (w *project) aside(name, text string) {
	w.t.Helper()
	text = strings.TrimSuffix(text, "\n") + "\n"
	require.NoError(w.t, os.WriteFile(filepath.Join(w.side, name), []byte(text), 0o600))
}

// An evaluation that counts its runs, of which two in every four are slow, takes
// a change of nothing for a gain when the order of the runs is fixed.
func TestPeriodicNoiseKeepsNothing(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	for begin := range 4 {
		t.Run(fmt.Sprint(begin), func(t *testing.T) {
			t.Parallel()
			var noise []string
			for run := range 400 {
				noise = append(noise, fmt.Sprint((run+begin)%4/2*150+run*37%11))
			}
			w := noisyProject(t, "", noise)
			for _, got := range w.iterate("-n", "3") {
				require.Contains(t, []string{"rejected", "inconclusive"}, got.Outcome, got.Reasons)
				assert.True(t, got.Noisy)
			}
			a := w.binary("iterate", "replay", "p")
			assert.Zero(t, a.code, a.stdout)
		})
	}
}
