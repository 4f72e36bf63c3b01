package tests

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAFailureCanBeDebugged: the terminal and the log say which command failed and
// why, and where everything is that it printed.
func TestAFailureCanBeDebugged(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "9", "8", "10")
	w.write("eval.sh", "echo measuring\ntest \"$(cat value.txt)\" = 9 || { echo './value.go:3:5: undefined: x' >&2; "+
		"exit 3; }\necho last words >&2\necho '{\"m\": 9}'\n")
	w.write(".autoloop/programs/p.md",
		strings.Replace(w.read(".autoloop/programs/p.md"), `printf '{"m": %s}\n' "$(cat value.txt)"`,
			"true\nsh eval.sh | tail -1", 1))
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message", "evaluation")
	a := w.binary("iterate", "--program", "p")
	require.Zero(t, a.code, a.stderr)
	const why = "the evaluation ended with exit code 3 at line 2 (`sh eval.sh | tail -1`): ./value.go:3:5: undefined: x"
	assert.Contains(t, a.stdout, why)
	_, file, found := strings.Cut(a.stdout, "all that it printed: ")
	require.True(t, found, a.stdout)
	file, _, _ = strings.Cut(file, "\n")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), "undefined: x")

	a = w.binary("iterate", "log", "p", "1")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, why)
	assert.Contains(t, a.stdout, "the evaluation printed, at its end:\n  ./value.go:3:5: undefined: x\n")
	assert.Contains(t, a.stdout, file)
}
