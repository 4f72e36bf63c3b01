package tests

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// serve starts a command that serves the page, and returns its address.
func serve(t *testing.T, cmd *exec.Cmd, output func() (io.ReadCloser, error)) string {
	t.Helper()
	out, err := output()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, url, found := strings.Cut(lines.Text(), "http://"); found {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return "http://" + url
		}
	}
	require.Fail(t, "the command said no address")
	return ""
}

// watchedProject has a program whose agent waits for the file go, so that a run is
// seen at work.
func watchedProject(t *testing.T) *project {
	t.Helper()
	return newProject(t, map[string]string{
		"value.txt": "1\n",
		".autoloop/programs/p.md": "---\nmetric: m\nevaluation-runs: 1\nagent: command\n" +
			"agent-command: while [ ! -e \"$SIDE/go\" ]; do sleep 0.05; done; sleep 0.1; echo $(($(cat " +
			"value.txt)+1)) > value.txt\nenv: [SIDE]\n---\n## Goal\nMore.\n## Target\n- `value.txt`\n" +
			"## Evaluation\n```sh\nprintf '{\"m\": %s}\\n' \"$(cat value.txt)\"\n```\n",
	})
}

// TestWatchInABrowser: the page says what a run is at, takes up a new iteration
// without being loaded again, and a pause ends the run.
func TestWatchInABrowser(t *testing.T) {
	long.Only(t, long.Browser)
	chromium := browserOf(t)
	w := watchedProject(t)
	const most = 5000
	page := w.command("iterate", "page", "--serve")
	url := serve(t, page, page.StdoutPipe)
	cmd := w.command("iterate", "--program", "p", "-n", strconv.Itoa(most))
	require.NoError(t, cmd.Start())
	look := exec.CommandContext(t.Context(), "node", "live.js", url,
		filepath.Join(w.side, "go")) //nolint:gosec // our own script
	look.Dir = "npm-page"
	look.Env = append(os.Environ(), "CHROMIUM="+chromium)
	var stderr bytes.Buffer
	look.Stderr = &stderr
	out, err := look.Output()
	require.NoError(t, err, stderr.String())
	assert.JSONEq(t, "[]", string(out))
	require.NoError(t, w.command("iterate", "pause", "p").Run())
	_ = cmd.Wait() // it says that the program is paused
	assert.Less(t, w.count("decided"), most)
}
