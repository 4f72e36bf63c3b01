package tests

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
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

// ask sends one request to the server of a page.
func ask(t *testing.T, method, url string, change ...func(*http.Request)) (code int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	require.NoError(t, err)
	for _, f := range change {
		f(request)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}

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

// watchedWorld has a program whose agent waits for the file go, so that a run is
// seen at work.
func watchedWorld(t *testing.T) *world {
	t.Helper()
	return newWorld(t, map[string]string{
		"value.txt": "1\n",
		".autoloop/programs/p.md": "---\nmetric: m\nevaluation-runs: 1\nagent: command\n" +
			"agent-command: while [ ! -e \"$SIDE/go\" ]; do sleep 0.05; done; sleep 0.1; echo $(($(cat " +
			"value.txt)+1)) > value.txt\nenv: [SIDE]\n---\n## Goal\nMore.\n## Target\n- `value.txt`\n" +
			"## Evaluation\n```sh\nprintf '{\"m\": %s}\\n' \"$(cat value.txt)\"\n```\n",
	})
}

// TestWatchInABrowser: the page says what a run is at, takes up a new iteration
// without being loaded again, and its button ends the run.
func TestWatchInABrowser(t *testing.T) {
	long.Only(t, long.Browser)
	chromium := browserOf(t)
	w := watchedWorld(t)
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
	require.NoError(t, cmd.Wait())
	assert.Less(t, w.count("decided"), most, "the button ended the run")
}

func TestWatchAnswersNobodyElse(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "", "1", "2")
	w.one()
	checkout, refs := w.checkout(), w.git("for-each-ref")
	wrong := w.binary("iterate", "page", "--serve", "nope")
	assert.Equal(t, 2, wrong.code, "nothing is served of a program that is not there")
	assert.Contains(t, wrong.stderr, `program "nope" has no records; there are records of p`)
	cmd := w.command("iterate", "page", "--serve")
	url := serve(t, cmd, cmd.StdoutPipe)
	code, body := ask(t, http.MethodGet, url)
	assert.Equal(t, http.StatusOK, code)
	assert.Contains(t, body, "try 2")
	host := url[:strings.LastIndex(strings.TrimSuffix(url, "/"), "/")+1]
	origin := func(value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Origin", value) }
	}
	for name, c := range map[string]struct {
		method, url string
		change      func(*http.Request)
	}{
		"without the token":    {http.MethodGet, host, nil},
		"with another token":   {http.MethodGet, host + "AAAAAAAAAAAAAAAAAAAAAAAAAA/", nil},
		"events of a stranger": {http.MethodGet, host + "x/events", nil},
		"from another site":    {http.MethodGet, url, origin("https://evil.example")},
		"a name that leads here": {http.MethodGet, url, func(r *http.Request) {
			r.Host = "evil.example"
		}},
		"a form of another site":  {http.MethodPost, url + "stop", nil},
		"a stop by a plain visit": {http.MethodGet, url + "stop", nil},
	} {
		code, body := ask(t, c.method, c.url, func(r *http.Request) {
			if c.change != nil {
				c.change(r)
			}
		})
		assert.GreaterOrEqual(t, code, 400, name)
		assert.NotContains(t, body, "try 2", name)
	}
	assert.Equal(t, checkout, w.checkout(), "nothing is written")
	assert.Equal(t, refs, w.git("for-each-ref"))
}
