package memory_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/memory"
)

// TestACopyThatDisagreesIsSaid has copies without git, of which nobody can ask for
// a commit.
func TestACopyThatDisagreesIsSaid(t *testing.T) {
	t.Parallel()
	c := lived(t, 1)
	c.put(map[string]string{"p.md": "one\n", "q.md": "two\n", "r.md": "three\n"})
	for name, test := range map[string]struct {
		copied map[string]string
		says   []string
	}{
		"the same":         {map[string]string{"p.md": "one\n", "q.md": "two\n"}, nil},
		"of a new program": {map[string]string{"p.md": "one\n", "s.md": "four\n"}, nil},
		"two older ones": {
			map[string]string{"p.md": "one\n", "q.md": "2\n", "r.md": "3\n"},
			[]string{"has another state of q than branch memory/autoloop (states that differ: 2)"},
		},
		"another last line": {
			map[string]string{"p.md": "one"},
			[]string{"has another state of p than branch memory/autoloop (states that differ: 1)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			states := memory.States{Branch: c.Memory, Dir: t.TempDir()}
			for file, text := range test.copied {
				require.NoError(t, os.WriteFile(filepath.Join(states.Dir, file), []byte(text), 0o600))
			}
			_, _, err := states.Load(t.Context(), []string{"p", "q", "r", "s"})
			require.NoError(t, err)
			require.Len(t, states.Warnings, len(test.says))
			for i, says := range test.says {
				assert.Contains(t, states.Warnings[i], says)
			}
		})
	}
}

// TestStatesAreReadAsFarAsChoosingLooks: of what people write below the table, only the
// length is there, from the branch and from a copy.
func TestStatesAreReadAsFarAsChoosingLooks(t *testing.T) {
	t.Parallel()
	c := lived(t, 1)
	head := "# p\n\n## Machine State\n\n| Paused | true |\n\n"
	whole := head + "## Mine\n\n" + strings.Repeat("- a lesson\n", 500)
	c.put(map[string]string{"p.md": whole, "p.results.tsv": "x", "p0.md": "no table\n", "p-1.md": head, "q.md": whole})
	copied := t.TempDir()
	for name, text := range map[string]string{"p": whole, "p0": "no table\n", "p-1": head, "q": whole} {
		require.NoError(t, os.WriteFile(filepath.Join(copied, name+".md"), []byte(text), 0o600))
	}
	for _, states := range []memory.States{{Branch: c.Memory}, {Dir: copied}} {
		found, _, err := states.Load(t.Context(), []string{"p", "p0", "p-1", "gone"})
		require.NoError(t, err)
		assert.Equal(t, map[string][]byte{"p": []byte(whole), "p0": []byte("no table\n"), "p-1": []byte(head)}, found)
		others, err := states.Others(t.Context(), []string{"p", "p0", "p-1", "gone"})
		require.NoError(t, err)
		assert.Equal(t, map[string][]byte{"q": []byte(whole)}, others)
	}
}
