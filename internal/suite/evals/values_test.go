package evals

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestValuesThatDiffer: no value is another's of another type, or in another order.
func TestValuesThatDiffer(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"1", "true"},
		{"0", "false"},
		{"0", "null"},
		{`"1"`, "1"},
		{`""`, "null"},
		{"[]", "{}"},
		{"[]", "null"},
		{"{}", "null"},
		{"[1,2]", "[2,1]"},
		{"1e400", "1e401"},
		{"0.1", "0.10000000000000000001"},
	} {
		a, err := decodeJSON([]byte(pair[0]))
		require.NoError(t, err)
		b, err := decodeJSON([]byte(pair[1]))
		require.NoError(t, err)
		assert.False(t, sameJSON(a, b), "%s and %s", pair[0], pair[1])
	}
}
