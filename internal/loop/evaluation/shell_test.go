package evaluation_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/loop/evaluation"
)

// TestFailingCommandIsNamed: a script ends at the first command that fails,
// also within a pipe, and at a variable that is not set; the reason has its line.
func TestFailingCommandIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, says string }{
		"a command": {"true\ngrep x /dev/null\n", "exit code 1 at line 2 (`grep x /dev/null`)"},
		"a pipe": {
			"true\nsh -c 'echo broken >&2; exit 3' | tail -1\n",
			"exit code 3 at line 2 (`sh -c 'echo broken >&2; exit 3' | tail -1`): broken",
		},
		"an unset variable": {"true\necho $nosuch\n", "at line 2 (`echo $nosuch`): nosuch: unbound variable"},
		"no such command":   {"true\n\nnosuch 1\n", "exit code 127 at line 3 (`nosuch 1`): nosuch: command not found"},
		"a subshell":        {"true\n(\n  cd /\n  false\n)", "exit code 1 at line 4 (`false`)"},
		"exit":              {"if true; then exit 7; fi", "exit code 7"},
		"what was let pass": {
			"(false) & wait\nfalse || true\nif false; then true; fi\nset +e\nfalse\nset -e\nexit 4",
			"exit code 4",
		},
		"a file that is read": {"true\n. ./more.sh", "exit code 1 at line 2 of more.sh (`false`)"},
		"a syntax error":      {"true\nif true; then", "exit code 2 at its end: syntax error: unexpected end of file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := evaluateScript(t, c.script+"\necho '{\"m\": 1}'", func(r *evaluation.Request) {
				require.NoError(t, os.WriteFile(filepath.Join(r.Dir, "more.sh"), []byte("true\nfalse\n"), 0o600))
			})
			assert.Contains(t, got.Problem, c.says)
			assert.NotContains(t, got.Problem, os.TempDir())
			if name == "exit" || name == "what was let pass" {
				assert.Equal(t, "the evaluation ended with "+c.says, got.Problem)
			}
		})
	}
}

// TestStrictWithoutBash: sh does as much as it can.
func TestStrictWithoutBash(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	for _, tool := range []string{"sh", "cat"} {
		require.NoError(t, os.Symlink("/bin/"+tool, filepath.Join(bin, tool)))
	}
	with := func(r *evaluation.Request) { r.Env = []string{"PATH=" + bin} }
	got := evaluateScript(t, "true\necho $nosuch", with)
	assert.Contains(t, got.Problem, "at line 2 (`echo $nosuch`): nosuch")
	got = evaluateScript(t, `echo '{"m": 1}' | cat`, with)
	require.Empty(t, got.Problem)
	assert.Equal(t, "1", got.Measurement.Metric.String())
}

// TestFilesAreNamedWithinTheTree: a reason has no path of a tree that is gone.
func TestFilesAreNamedWithinTheTree(t *testing.T) {
	t.Parallel()
	got := evaluateScript(t, `echo "$PWD/src/a.c:3:5: error: it is broken" >&2; exit 1`)
	assert.Contains(t, got.Problem, ": src/a.c:3:5: error: it is broken")
}
