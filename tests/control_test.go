package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestControlWithoutGitHub pauses, resumes, undoes and tells the agent something
// from the command line, as comments do on GitHub.
func TestControlWithoutGitHub(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "9", "8", "7", "6")
	file := ".autoloop/programs/p.md"
	w.write(file, strings.Replace(w.read(file), "agent-command: ",
		"agent-command: cp \"$AUTOLOOP_PROMPT\" \"$SIDE/prompt.$AUTOLOOP_ITERATION\" && ", 1))
	w.git("commit", "--quiet", "--all", "--message", "Keep the prompts")
	said := func(args ...string) string {
		t.Helper()
		a := w.binary("iterate", args...)
		require.Zero(t, a.code, a.stderr)
		return a.stdout
	}

	a := w.binary("iterate", "pause", "p")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.stderr, `program "p" has no history yet`)

	require.Len(t, w.iterate("-n", "2"), 2)
	assert.Equal(t, "p: paused; `iterate resume p` goes on\n", said("pause", "p", "the", "machine", "is", "busy"))
	assert.Contains(t, w.memory("p.md"), "| Pause Reason | the machine is busy |")
	assert.Contains(t, w.binary("scheduler").stdout, "skipped: p: paused: the machine is busy")

	assert.Equal(t, "p: resumed\n", said("resume", "p"))
	assert.Equal(t, "p: The agent is told at iteration 3.\n", said("note", "p", "try", "a", "lookup", "table"))
	assert.Equal(t, "p: The agent is told at iteration 3.\n", said("note", "p", "and measure"))
	assert.Contains(t, said("undo", "p", "2"), "p: Iteration 2 is undone by commit ")
	assert.Equal(t, "8", w.git("show", "autoloop/p:value.txt"))
	a = w.binary("iterate", "undo", "p", "7")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.stderr, "no iteration 7")
	assert.Regexp(t, `(?m)^ *2 .* undone `, said("log", "p"))
	assert.Contains(t, said("log", "p", "2"), "outcome    undone\n")
	assert.Contains(t, said("log", "p", "--json"), `"key": "undone"`)
	assert.Contains(t, w.memory("p.md"), "| Best Metric | — |")
	assert.Zero(t, w.binary("iterate", "replay", "p").code, "the records agree before anything is measured")

	require.Len(t, w.iterate("-n", "1"), 1)
	assert.Contains(t, w.memory("p.md"), "New baseline: iteration 2 was undone")
	prompt, err := os.ReadFile(filepath.Join(w.side, "prompt.3"))
	require.NoError(t, err)
	assert.Contains(t, string(prompt), "try a lookup table\nand measure")
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "values"), []byte("8\n7\n6\n5\n"), 0o600))
	require.Len(t, w.iterate("-n", "1"), 1)
	prompt, err = os.ReadFile(filepath.Join(w.side, "prompt.4"))
	require.NoError(t, err)
	assert.NotContains(t, string(prompt), "lookup table", "it was told once")
	assert.Zero(t, w.binary("iterate", "replay", "p").code, "the records agree")
}

func TestLog(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "9", "8", "10")
	a := w.binary("iterate", "log", "p")
	assert.Equal(t, 2, a.code)
	require.Len(t, w.iterate("-n", "2"), 2)

	a = w.binary("iterate", "log", "p")
	require.Zero(t, a.code, a.stderr)
	lines := strings.Split(strings.TrimSpace(a.stdout), "\n")
	require.Len(t, lines, 3)
	assert.Equal(t, []string{"iteration", "time", "outcome", "metric", "best", "why"}, strings.Fields(lines[0]))
	assert.Contains(t, lines[1], "kept")
	assert.Contains(t, lines[2], "10 is worse than the best 8")

	a = w.binary("iterate", "log", "p", "2")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "outcome    not kept\n")
	assert.Contains(t, a.stdout, "metric     10\nbefore     8\nbest       8\n")

	a = w.binary("iterate", "log", "p", "--tsv")
	require.Zero(t, a.code, a.stderr)
	lines = strings.Split(strings.TrimRight(a.stdout, "\n"), "\n")
	require.Len(t, lines, 3)
	first := strings.Split(lines[1], "\t")
	require.Len(t, first, 13)
	assert.Equal(t, []string{"1", "accepted", "8", "8", w.git("rev-parse", "autoloop/p")},
		[]string{first[0], first[2], first[3], first[4], first[7]})

	for _, wrong := range [][]string{{"log", "p", "3"}, {"log", "p", "x"}, {"log", "other"}, {"undo", "p", "0"}} {
		assert.Equal(t, 2, w.binary("iterate", wrong...).code, wrong)
	}
}

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
