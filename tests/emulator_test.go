package tests

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

// TestOurServerAnswersAsTheEmulator asks our test server and the emulator of others for the
// same, as alice, and compares the status of each answer and the fields of it that we read.
func TestOurServerAnswersAsTheEmulator(t *testing.T) {
	t.Parallel()
	theirs := startEmulator(t)
	ours := githubtest.New(t, ownedByAlice())
	ours.Change(func(s *githubtest.State) {
		ours.Token, s.Me = hubToken, "alice"
		ours.Heads = func(branch string) string { return fmt.Sprintf("%040x", len(branch)) }
	})
	var main struct{ Object struct{ SHA string } }
	_, text := askRepository(t, theirs, "GET", "/git/ref/heads/main", "")
	require.NoError(t, json.Unmarshal([]byte(text), &main), text)
	status, text := askRepository(t, theirs, "POST", "/git/refs",
		fmt.Sprintf(`{"ref": "refs/heads/autoloop/p", "sha": %q}`, main.Object.SHA))
	require.Equal(t, http.StatusCreated, status, text)
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/labels", `{"name": "autoloop-program", "color": "abcdef"}`},
		{"POST", "/labels", `{"name": "autoloop-program", "color": "abcdef"}`},
		{"GET", "/labels?per_page=100", ""},
		{"POST", "/issues", `{"title": "P", "body": "b", "labels": ["autoloop-program"]}`},
		{"PATCH", "/issues/1", `{"body": "another"}`},
		{"GET", "/issues/1", ""},
		{"GET", "/issues/77", ""},
		{"POST", "/issues/1/comments", `{"body": "Hello."}`},
		{"GET", "/issues/1/comments?per_page=100", ""},
		{"POST", "/issues/77/comments", `{"body": "Hello."}`},
		{"GET", "/issues?state=all&direction=asc&per_page=100", ""},
		{"POST", "/pulls", `{"title": "x", "body": "y", "head": "autoloop/p", "base": "main", "draft": true}`},
		{"GET", "/pulls?state=open&per_page=100", ""},
		{"PATCH", "/pulls/2", `{"title": "z"}`},
		{"POST", "/issues/2/labels", `{"labels": ["autoloop-program"]}`},
		{"DELETE", "/issues/2/labels/autoloop-program", ""},
		{"PATCH", "/pulls/2", `{"state": "closed"}`},
		{"GET", "/pulls/2", ""},
		{"GET", "/pulls?state=open&per_page=100", ""},
		{"PATCH", "/issues/1", `{"state": "closed"}`},
		{"GET", "/collaborators/alice/permission", ""},
		{"GET", "/actions/variables/AUTOLOOP_PAUSED", ""},
	} {
		status, text := askRepository(t, theirs, c.method, c.path, c.body)
		ourStatus, ourText := askRepository(t, ours.URL+"/repos/org/repo", c.method, c.path, c.body)
		name := c.method + " " + c.path + " " + c.body
		assert.Equal(t, status, ourStatus, name)
		if status < http.StatusMultipleChoices {
			assert.Equal(t, readFields(t, text), readFields(t, ourText), name)
		}
	}
}

// askRepository sends one request below the repository.
func askRepository(t *testing.T, repository, method, path, body string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, repository+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+hubToken)
	request.Close = true // the emulator closes a connection that was idle
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(data)
}

// readFields are the fields of an answer that the binaries read, one object a line.
func readFields(t *testing.T, text string) (lines []string) {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal([]byte(text), &value), text)
	list, is := value.([]any)
	if !is {
		list = []any{value}
	}
	for _, entry := range list {
		object, _ := entry.(map[string]any)
		user, _ := object["user"].(map[string]any)
		head, _ := object["head"].(map[string]any)
		var labels []string
		of, _ := object["labels"].([]any)
		for _, label := range of {
			fields, _ := label.(map[string]any)
			labels = append(labels, fmt.Sprint(fields["name"]))
		}
		maps.DeleteFunc(object, func(name string, _ any) bool {
			return !slices.Contains([]string{
				"number", "title", "body", "state", "draft", "name", "author_association", "permission",
			}, name)
		})
		lines = append(lines, fmt.Sprint(object, user["login"], head["ref"], labels))
	}
	return lines
}

// startEmulator starts the GitHub emulator of others and returns the address of its repository.
func startEmulator(t *testing.T) string {
	t.Helper()
	long.Only(t, long.Emulator)
	modules, err := filepath.Abs("npm-emulate/node_modules")
	require.NoError(t, err)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	dir := t.TempDir()
	const seed = `{"tokens": {"` + hubToken + `": {"login": "alice", "scopes": ["repo"]}}, "github": {` +
		`"users": [{"login": "alice"}], ` +
		`"repos": [{"owner": "alice", "name": "repo", "auto_init": true}]}}` // JSON is YAML
	require.NoError(t, os.WriteFile(filepath.Join(dir, "seed.yaml"), []byte(seed), 0o600))
	cmd := exec.CommandContext(t.Context(), filepath.Join(modules, "node", "bin", "node"),
		filepath.Join(modules, "emulate", "dist", "index.js"),
		"--service", "github", "--port", port, "--seed", "seed.yaml")
	cmd.Dir = dir
	require.NoError(t, cmd.Start(), "npm ci --prefix tests/npm-emulate")
	t.Cleanup(func() { _ = cmd.Wait() })
	address := "http://127.0.0.1:" + port + "/repos/alice/repo"
	require.Eventually(t, func() bool {
		status, _ := askRepository(t, address, "GET", "", "")
		return status == http.StatusOK
	}, time.Minute, 30*time.Millisecond)
	return address
}
