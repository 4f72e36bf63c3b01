package memory_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/memory"
)

// TestDisagreeingCopyIsReported has copies without git, of which nobody can ask for
// a commit.
func TestDisagreeingCopyIsReported(t *testing.T) {
	t.Parallel()
	c := lived(t, 1)
	c.put(map[string]string{"p.md": "one\n", "q.md": "two\n", "r.md": "three\n"})
	for name, test := range map[string]struct {
		copied map[string]string
		says   string
	}{
		"the same":         {map[string]string{"p.md": "one\n", "q.md": "two\n"}, ""},
		"of a new program": {map[string]string{"p.md": "one\n", "s.md": "four\n"}, ""},
		"two older ones": {
			map[string]string{"q.md": "2\n", "r.md": "3\n"}, "memory/autoloop (states that differ: 2)",
		},
		"another last line": {
			map[string]string{"p.md": "one"}, "memory/autoloop (states that differ: 1)",
		},
	} {
		states := memory.States{Branch: c.Memory, Dir: copyOf(t, test.copied)}
		_, _, err := states.Load(t.Context(), []string{"p", "q", "r", "s"})
		require.NoError(t, err)
		assert.Contains(t, strings.Join(states.Warnings, "\n"), test.says, name)
		assert.Equal(t, test.says == "", len(states.Warnings) == 0, name)
	}
}
