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
		"after a job": {
			"{ sleep 0.1; false; } &\nsleep 0.3\n(\n  cd / && test -e nope)", "exit code 1 at line 4 (`cd / && test -e nope)`)",
		},
		"exit": {"if true; then exit 7; fi", "exit code 7"},
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

// late starts a process that has left the script's session and prints a better
// number last.
const late = `setsid sh -c 'while kill -0 "$1" 2>/dev/null && [ ! -e given ]; do :; done; echo "{\"m\": 0}"; touch printed' child $$ &
`

// TestResultFileIsResult: what others print to the script's standard output
// does not count beside it, and they are not told where it is.
func TestResultFileIsResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, metric string }{
		"printed": {`echo '{"m": 5}'`, "5"},
		"given":   {`echo '{"m": 5}' > "$AUTOLOOP_RESULT"`, "5"},
		"both":    {`echo '{"m": 5}' > "$AUTOLOOP_RESULT"; echo '{"m": 1}'`, "5"},
		"empty":   {`: > "$AUTOLOOP_RESULT"; echo '{"m": 5}'`, "5"},
		"a child in its session": {late +
			`echo '{"m": 5}' > "$AUTOLOOP_RESULT"; touch given; while [ ! -e printed ]; do :; done`, "5"},
		"nobody else is told": {`n=$(env | grep -c RESULT) || true; sh -c 'echo "{\"m\": 0}" > "$AUTOLOOP_RESULT"' ` +
			`2>/dev/null || true; echo "{\"m\": $n}" > "$AUTOLOOP_RESULT"`, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := evaluateScript(t, c.script)
			require.Empty(t, got.Problem)
			assert.Equal(t, c.metric, got.Measurement.Metric.String())
		})
	}
}

func TestResultFilesThatAreNone(t *testing.T) {
	t.Parallel()
	for script, says := range map[string]string{
		`ln -s /etc/passwd "$AUTOLOOP_RESULT"; echo '{"m": 5}'`:           "$AUTOLOOP_RESULT is no regular file",
		`mkdir "$AUTOLOOP_RESULT"; echo '{"m": 5}'`:                       "$AUTOLOOP_RESULT is no regular file",
		`head -c 2000000 /dev/zero > "$AUTOLOOP_RESULT"; echo '{"m": 5}'`: "is no regular file of at most 1048576 bytes",
		`echo nothing > "$AUTOLOOP_RESULT"; echo '{"m": 5}'`:              "JSON",
		`echo '{"m": NaN, "t": "hunter2hunter2"}' > "$AUTOLOOP_RESULT"`:   "NaN",
	} {
		got := evaluateScript(t, script)
		assert.Contains(t, got.Problem, says, script)
		assert.NotContains(t, got.Problem, "hunter2hunter2")
	}
}

// TestResultFileHasOneResult: code under test that shares the file, since the
// command that runs it writes there, makes its evaluation fail and wins nothing.
func TestResultFileHasOneResult(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"another object": `sh -c 'echo "{\"m\": 5}"; setsid sh -c "echo \"{\\\"m\\\": 0}\""' > ` +
			`"$AUTOLOOP_RESULT"`,
		"a number after another": `sh -c 'echo 5; echo 0' > "$AUTOLOOP_RESULT"`,
		"an object for a number": `sh -c 'echo 5; echo "{\"m\": 0}"' > "$AUTOLOOP_RESULT"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := evaluateScript(t, script)
			assert.Contains(t, got.Problem, "more than one result")
			assert.Nil(t, got.Measurement.Metric)
		})
	}
	for _, script := range []string{
		`printf '%s\n' 'warming up {' '{"m": 5, "all": [' '1' ', 2' '], "more": {"m": 6}}' 'done in 3 s' > ` +
			`"$AUTOLOOP_RESULT"`, `printf 'x\n5\n' > "$AUTOLOOP_RESULT"`,
	} {
		got := evaluateScript(t, script)
		assert.Empty(t, got.Problem)
		assert.Equal(t, "5", got.Measurement.Metric.String())
	}
}
