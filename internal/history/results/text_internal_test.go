package results

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBlankLinesTakeNoRoom: a row in memory is larger than a short line, so that a file
// of blank lines must not be taken for one of rows.
func TestBlankLinesTakeNoRoom(t *testing.T) {
	t.Parallel()
	data := []byte(Header + strings.Repeat("\n", 1<<20))
	table, err := Parse(data)
	require.NoError(t, err)
	assert.Less(t, cap(table.rows), len(data)/32)
}
