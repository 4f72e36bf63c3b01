package tests

import (
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
