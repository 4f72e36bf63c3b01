package long_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// TestTheLineNamesAllKinds holds that the path which `go test ./...` prints names
// the variable and everything that is left out without it.
func TestTheLineNamesAllKinds(t *testing.T) {
	t.Parallel()
	name := long.Variable + "-runs"
	for _, kind := range long.Kinds() {
		name += "-" + string(kind)
	}
	found, err := filepath.Glob(long.Variable + "*")
	require.NoError(t, err)
	assert.Equal(t, []string{name}, found)
}
