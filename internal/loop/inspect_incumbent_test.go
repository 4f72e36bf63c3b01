package loop

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
)

// TestIncumbentIsInspected: the head of the program branch where it has one, and the
// guardrails' numbers are what its runs gave.
func TestIncumbentIsInspected(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "guardrails:\n  - metric: size\n    direction: lower\n    max-regression: 5", `{"m": 1, "size": 6}`,
		`{"m": 3, "size": 7}`)
	found, err := b.service.Inspect(t.Context(), 0)
	require.NoError(t, err)
	assert.Equal(t, map[string][]metric.Value{"size": {metric.MustValue("6"), metric.MustValue("6")}}, found.Guardrails)
	b.one()
	found, err = b.service.Inspect(t.Context(), 0)
	require.NoError(t, err)
	assert.Equal(t, b.git("rev-parse", "autoloop/p"), found.Commit)
	assert.Equal(t, "3", found.Median.String())
	assert.Equal(t, map[string][]metric.Value{"size": {metric.MustValue("7"), metric.MustValue("7")}}, found.Guardrails)

	b.git("checkout", "--quiet", "autoloop/p")
	b.git("branch", "-D", "--quiet", "main")
	b.git("update-ref", "-d", "refs/heads/autoloop/p")
	b.git("update-ref", "-d", "refs/heads/memory/autoloop")
	_, err = b.service.Inspect(t.Context(), EnoughRuns)
	require.Error(t, err, "there is no branch to look at")
}
