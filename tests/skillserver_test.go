package tests

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// The variables that make this test binary the server of a skill, which knows the
// facts of a file as it was at its start, and the executor that asks it.
const (
	serves = "AUTOLOOP_TEST_SERVES"
	asks   = "AUTOLOOP_TEST_ASKS"
)

func serveFacts(file string) int {
	text, err := os.ReadFile(file)
	if err == nil {
		facts := map[string]string{}
		for line := range strings.Lines(string(text)) {
			name, fact, _ := strings.Cut(strings.TrimSpace(line), "=")
			facts["/"+name] = fact
		}
		err = http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"),
			http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // for a moment
				_, _ = io.WriteString(w, facts[r.URL.Path])
			}))
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// askFact answers the question `What is X?` by asking the server for X.
func askFact(into string) int {
	prompt, err := os.ReadFile(os.Getenv("AUTOLOOP_PROMPT"))
	if err == nil {
		name, _, _ := strings.Cut(strings.TrimPrefix(string(prompt), "What is "), "?")
		var response *http.Response
		if response, err = http.Get(os.Getenv("AUTOLOOP_SERVER") + "/" + //nolint:noctx // the executor's time bounds it
			name); err == nil {
			var text []byte
			text, err = io.ReadAll(response.Body)
			_ = response.Body.Close()
			_ = os.WriteFile(into, append(text, '\n'), 0o600)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// serverWorld has a skill with a server and questions, and no other suite.
func serverWorld(t *testing.T, improve string) (w *world, args func(keys ...string) []string) {
	t.Helper()
	w = skillWorld(t, "", improve)
	require.NoError(t, os.Remove(w.dir+"/s/evals/evals.json"))
	pair := func(name, fact string) string {
		return "<qa_pair><question>What is " + name + "?</question><answer>" + fact + "</answer></qa_pair>"
	}
	w.write("s/evals/evaluation.xml",
		"<evaluation>"+pair("red", "Rouge")+pair("green", "vert")+pair("blue", "bleu")+"</evaluation>\n")
	w.write("s/french", "red=rouge\n")
	self, err := os.Executable()
	require.NoError(t, err)
	return w, func(keys ...string) []string {
		if keys == nil {
			keys = []string{"setup: cp french facts.txt", "start: " + serves + "=facts.txt " + self}
		}
		return []string{"--executor-command", asks + "=outputs/answer.txt " + self, "--settings", w.settings(keys...)}
	}
}

// TestQuestionsDriveTheLoop improves a server whose suite is an evaluation.xml
// alone. Every version is asked of a server that began with it.
func TestQuestionsDriveTheLoop(t *testing.T) {
	long.Only(t, long.Suites)
	t.Parallel()
	w, args := serverWorld(t, `case $AUTOLOOP_ITERATION in
		1) echo green=vert >> french; echo "add green";;
		2) rm french; echo "lose the facts";;
		3) echo "blue= BLEU " >> french; echo "add blue";; esac`)
	a := w.binary("iterate", "validate", "s")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "case 3: 0 expectations, 1 deterministic check, 0 files\n")
	assert.NotContains(t, a.stdout, "answers:", "they are the cases")
	end := w.skillEnd(append(args(), "-n", "5")...)
	require.Equal(t, "perfect", end.Ended)
	require.Len(t, end.Iterations, 4)
	assert.InDelta(t, 1.0/3, *end.Iterations[0].Score, 1e-9)
	assert.InDelta(t, 2.0/3, *end.Iterations[1].Score, 1e-9)
	assert.Equal(t, "reverted", end.Iterations[2].Action)
	assert.Contains(t, end.Iterations[2].Changelog, "the setup failed: exit code 1: cp: ")
	assert.Equal(t, "kept", end.Iterations[3].Action)
	assert.Contains(t, w.read(ws+"/iteration-0/eval-2/grading.json"), "outputs/answer.txt is empty")
	assert.NotContains(t, w.read(ws+"/iteration-0/eval-2/grading.json"), "vert", "the improver is not told the answer")
}

func TestServersThatDoNotStart(t *testing.T) {
	long.Only(t, long.Suites)
	t.Parallel()
	w, args := serverWorld(t, "true")
	for start, says := range map[string]string{
		"echo no licence; exit 3": "the original cannot be measured: the server ended before it listened: exit code " +
			"3: no licence",
		"true":      "the server ended before it listened: exit code 0",
		"sleep 600": "the server did not listen on 127.0.0.1:",
	} {
		a := w.skill(append(args("setup: cp french facts.txt", "evaluation-timeout: 2s", "start: "+start),
			"-n", "1")...)
		assert.Equal(t, 1, a.code, start)
		assert.Contains(t, a.stderr, says)
	}
	a := w.skill("--settings", w.settings("setup: 'true'"))
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.stderr, "give both")
}
