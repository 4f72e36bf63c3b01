package memory_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/memory"
)

// TestACopyThatDisagreesIsSaid has copies without git, of which nobody can ask for
// a commit.
func TestACopyThatDisagreesIsSaid(t *testing.T) {
	t.Parallel()
	c := sealed(t, 1)
	c.put(map[string]string{"p.md": "one\n", "q.md": "two\n", "r.md": "three\n"})
	for name, test := range map[string]struct {
		copied map[string]string
		says   []string
	}{
		"the same":          {map[string]string{"p.md": "one\n", "q.md": "two\n"}, nil},
		"of a new program":  {map[string]string{"p.md": "one\n", "s.md": "four\n"}, nil},
		"two older ones":    {map[string]string{"p.md": "one\n", "q.md": "2\n", "r.md": "3\n"}, []string{"has another state of q than branch memory/autoloop (states that differ: 2)"}},
		"another last line": {map[string]string{"p.md": "one"}, []string{"has another state of p than branch memory/autoloop (states that differ: 1)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			states := memory.States{Branch: c.Memory, Dir: t.TempDir()}
			for file, text := range test.copied {
				require.NoError(t, os.WriteFile(filepath.Join(states.Dir, file), []byte(text), 0o600))
			}
			_, err := states.Load(t.Context(), []string{"p", "q", "r", "s"})
			require.NoError(t, err)
			require.Len(t, states.Warnings, len(test.says))
			for i, says := range test.says {
				assert.Contains(t, states.Warnings[i], says)
			}
		})
	}
}
