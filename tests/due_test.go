package tests

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// TestAJobThatWaitedLooksAgain holds that a job whose program was due when it
// was started, and ran meanwhile, does not run it once more.
func TestAJobThatWaitedLooksAgain(t *testing.T) {
	long.Only(t, long.TwoJobs)
	t.Parallel()
	w := valuesWorld(t, "schedule: every 6h", "1", "2", "3", "4")
	propose := func(name string, more ...string) (string, iteration) {
		out := filepath.Join(w.side, name)
		a := w.binary("iterate", append([]string{"job", "propose", "--program", "p", "--json", "--out", out},
			more...)...)
		require.Zero(t, a.code, a.stderr)
		return out, w.decode(a.stdout)[0]
	}
	first, result := propose("first", "--if-due")
	assert.Equal(t, "accepted", result.Outcome)
	require.Zero(t, w.binary("iterate", "job", "publish", "--program", "p", first).code)

	second, result := propose("second", "--if-due")
	assert.Equal(t, "idle", result.Outcome)
	assert.Equal(t, []string{"not due yet"}, result.Reasons)
	assert.NoDirExists(t, second)

	third, result := propose("third")
	assert.Equal(t, "accepted", result.Outcome, "somebody asked for it")
	assert.DirExists(t, third)
}
