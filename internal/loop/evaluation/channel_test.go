package evaluation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
		`head -c 2000000 /dev/zero > "$AUTOLOOP_RESULT"; echo '{"m": 5}'`: "has 2000000 bytes",
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
