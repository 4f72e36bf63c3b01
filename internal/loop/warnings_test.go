package loop

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWarningSurvivesStart: what was found out before the start is recorded is
// shown in the end, once, however often the start is recorded.
func TestWarningSurvivesStart(t *testing.T) {
	t.Parallel()
	d := newMemoryRun(t, "", wasMeasured("1"))
	d.edit("| Best Metric | 1 |", "| Best Metric | 9 |")
	d.warn("%s was not read", "GitHub")
	d.stored.rival = func() {}
	require.NoError(t, d.lease.acquireLease(t.Context()))
	require.NoError(t, d.lease.acquireLease(t.Context()))
	d.warn("GitHub was not read")
	assert.Equal(t, []string{
		"GitHub was not read",
		"Best Metric was 9 in the state and is 1 in the ledger; put right from the ledger",
	}, d.warnings)
}
