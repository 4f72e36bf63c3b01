package process_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/process"
)

// TestAConversationIsClosedUnread: also while the program has more to say than
// anybody reads.
func TestAConversationIsClosedUnread(t *testing.T) {
	t.Parallel()
	c, err := process.Converse(t.TempDir(), []string{path}, "sh", "-c", "while :; do echo more; done")
	require.NoError(t, err)
	line, err := c.Out.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "more\n", line)
	c.Close()
}
