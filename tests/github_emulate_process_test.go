package tests

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// The repository on the emulator, and who uses it: Alice owns it, and the
// binaries are a program as in Actions.
const (
	emulatedOwner      = "alice"
	emulatedRepository = emulatedOwner + "/repo"
	emulatedMe         = "autoloop[bot]"
)

func tokenOf(login string) string {
	if login == emulatedMe {
		return hubToken
	}
	return login + "-token-of-a-person"
}

// seedOf is what the emulator begins with. The description tells this emulator
// from another that took its port.
func seedOf(description string) ([]byte, error) {
	tokens, users := map[string]any{}, []any{}
	for _, login := range []string{emulatedOwner, "bob", "mallory", emulatedMe} {
		tokens[tokenOf(login)] = map[string]any{"login": login, "scopes": []string{"repo"}}
		users = append(users, map[string]string{"login": login})
	}
	repository := map[string]any{"owner": emulatedOwner, "name": "repo", "description": description, "auto_init": true}
	// JSON is YAML.
	return json.Marshal(map[string]any{
		"tokens": tokens,
		"github": map[string]any{"users": users, "repos": []any{repository}},
	})
}

// startEmulator starts the GitHub emulator of others and returns its address.
func startEmulator(t *testing.T) string {
	t.Helper()
	long.Only(t, long.Emulator)
	modules, err := filepath.Abs("npm-emulate/node_modules")
	require.NoError(t, err)
	node, server := filepath.Join(modules, "node", "bin", "node"), filepath.Join(modules, "emulate", "dist", "index.js")
	for _, file := range []string{node, server} {
		require.FileExists(t, file, "npm ci --prefix tests/npm-emulate")
	}
	for range 3 { // another process may take the port before it does
		if address, ready := tryEmulator(t, node, server); ready {
			return address
		}
	}
	t.Fatal("the emulator does not start")
	return ""
}

// tryEmulator starts the emulator on a port that was free a moment ago.
func tryEmulator(t *testing.T, node, server string) (address string, ready bool) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	dir := t.TempDir()
	seed, err := seedOf(dir)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "seed.yaml"), seed, 0o600))

	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, node, server, "--service", "github", "--port", port, "--seed", "seed.yaml")
	cmd.Dir = dir
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	t.Cleanup(func() { stop(); <-ended })

	address = "http://127.0.0.1:" + port
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if emulates(t, address, dir) {
			return address, true
		}
		select {
		case <-ended:
			return "", false
		case <-time.After(30 * time.Millisecond):
		}
	}
	return "", false
}

// emulates says whether the emulator that was given this description answers.
func emulates(t *testing.T, address, description string) bool {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/repos/"+emulatedRepository,
		http.NoBody)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+tokenOf(emulatedOwner))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer func() { _ = answer.Body.Close() }()
	var repository struct{ Description string }
	return json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&repository) == nil &&
		repository.Description == description
}
