package tests

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// knobs is a program without an agent of its own whose metric is what the shell
// makes of the two numbers in knobs.conf, marked for the tuner.
const knobs = `---
metric_direction: lower
metric: m
evaluation-runs: 1
---
## Goal
Turn the knobs.
## Target
- ` + "`knobs.conf`" + `
## Evaluation
` + "```sh" + `
a=$(sed -n 's/^a = \(-*[0-9]*\).*/\1/p' knobs.conf)
b=$(sed -n 's/^b = \(-*[0-9]*\).*/\1/p' knobs.conf)
printf '{"m": %d}\n' $(( (a - 70) * (a - 70) + 4 * (b + 20) * (b + 20) ))
` + "```" + `
`

func knobsWorld(t *testing.T, conf string) *world {
	t.Helper()
	return newWorld(t, map[string]string{".autoloop/programs/p.md": knobs, "knobs.conf": conf})
}

// tried is what the ledger says that the tuner tried, in words.
func (w *world) tried() []any {
	var params []any
	for _, event := range w.facts("decided") {
		params = append(params, event["params"])
	}
	return params
}

func TestTunerContinuesFromTheLedger(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	const conf = "a = 10 # tune: 0..100 int\nb = 40 # tune: -50..50 int\n"
	one, two := knobsWorld(t, conf), knobsWorld(t, conf)
	first := one.iterate("-n", "12")
	for range 4 {
		two.iterate("-n", "3")
	}
	assert.Equal(t, one.tried(), two.tried(), "twelve at once are three and three and three and three")
	best, err := first[len(first)-1].Best.Float64()
	require.NoError(t, err)
	assert.Less(t, best, 400.0, "from 18000")
	assert.NotContains(t, one.git("show", "autoloop/p:knobs.conf"), "a = 10 ")
	assert.Contains(t, one.git("show", "autoloop/p:knobs.conf"), "# tune: 0..100 int")
}

func TestTunerHasNothingLeftToTry(t *testing.T) {
	t.Parallel()
	w := knobsWorld(t, "a = 2 # tune: 1..3 int\nb = 40\n")
	// 3 is better, 1 is worse; the start's own value is tried again once another
	// one was kept, since no iteration has tried it.
	got := w.iterate("-n", "4")
	require.Len(t, got, 4)
	for i, one := range got {
		kept := one.Metric != nil && one.Metric.String() == "18889"
		assert.Equal(t, kept, one.Outcome == "accepted", "iteration %d: %s", i+1, one.Outcome)
	}
	assert.Equal(t, "rejected", got[3].Outcome)
	assert.Equal(t, []string{"no change proposed"}, got[3].Reasons)
	rows := strings.Split(w.memory("p.results.tsv"), "\n")
	assert.Contains(t, rows[len(rows)-1], "nothing left to try: every combination of the marked values was tried")
	assert.Contains(t, rows[len(rows)-1], "no change proposed")
	assert.Equal(t, "a = 3 # tune: 1..3 int\nb = 40", w.git("show", "autoloop/p:knobs.conf"))
}

func TestTunerNamesABadMark(t *testing.T) {
	t.Parallel()
	w := knobsWorld(t, "a = 2 # tune: 3..1 int\nb = 40\n")
	got := w.one()
	assert.Equal(t, "error", got.Outcome)
	assert.Contains(t, strings.Join(got.Reasons, "\n"), "knobs.conf:1: tune mark: the minimum 3 is not below the maximum 1")
}
