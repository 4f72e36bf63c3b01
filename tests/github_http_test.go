package tests

import (
	"cmp"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

// gitServer serves a repository over HTTP, to who has the token. It counts the
// requests that were let in and those that were not.
type gitServer struct {
	backend *cgi.Handler
	// reader, when set, is a token that may only read: a push with it fails the
	// test. pushing, when set, is called before and after every push, and says whether
	// that is lost on its way.
	mu               sync.Mutex
	reader           string
	writer           string // the token that may write, hubToken when it is ""
	pushing          func(after bool) (lost bool)
	t                testing.TB
	allowed, refused atomic.Int64
}

// gitBackend serves the repositories below a directory under a path to whoever asks.
func gitBackend(t testing.TB, path, dir string) *cgi.Handler {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "--exec-path").Output()
	require.NoError(t, err)
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skip("this git has no http-backend")
	}
	return &cgi.Handler{Path: backend, Root: path, Env: []string{
		"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=autoloop", "GIT_CONFIG_NOSYSTEM=1",
		"HOME=" + t.TempDir(),
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_CONFIG_KEY_1=http.receivepack", "GIT_CONFIG_VALUE_1=true",
	}}
}

// newGitServer serves the repository in dir under a path.
func newGitServer(t testing.TB, path, dir string) *gitServer {
	t.Helper()
	return &gitServer{t: t, backend: gitBackend(t, path, dir)}
}

// listen starts to serve, and returns the address without the path.
func (g *gitServer) listen(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return server.URL
}

// ServeHTTP implements http.Handler.
func (g *gitServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	reader, writer, pushing := g.reader, cmp.Or(g.writer, hubToken), g.pushing
	g.mu.Unlock()
	push := strings.HasSuffix(r.URL.Path, "/git-receive-pack")
	_, password, _ := r.BasicAuth()
	if password != "" && password == reader {
		if password = writer; push || r.URL.Query().Get("service") == "git-receive-pack" {
			g.t.Errorf("a push with a token that may only read: %s", r.URL)
			password = ""
		}
	}
	if password != writer {
		g.refused.Add(1)
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	g.allowed.Add(1)
	if !push || pushing == nil {
		g.backend.ServeHTTP(w, r)
		return
	}
	if pushing(false) {
		panic(http.ErrAbortHandler)
	}
	g.backend.ServeHTTP(w, r)
	pushing(true)
}

// watch calls a function before and after every push from now on; nil ends that.
func (g *gitServer) watch(pushing func(after bool) (lost bool)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pushing = pushing
}

// wants makes another token the one that may write.
func (g *gitServer) wants(writer string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writer = writer
}

// watchProcesses looks at a file of all processes until it is told to stop.
func watchProcesses(file string, look func(text string)) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
			files, _ := filepath.Glob("/proc/[0-9]*/" + file)
			for _, file := range files {
				text, _ := os.ReadFile(file)
				look(string(text))
			}
		}
	}()
	return func() { close(done); <-ended }
}

func TestGitOverHTTPWithTheToken(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9", "11")
	h.program(onIssue)
	backend := newGitServer(t, "/remote.git", h.bare)
	server := backend.listen(t)
	h.git("remote", "set-url", "origin", server+"/remote.git")
	// What a checkout in Actions leaves behind must not be sent as well.
	h.git("config", "http."+server+"/.extraheader", "Authorization: Basic b2xkOm9sZA==")
	h.env = append(h.env, "GITHUB_SERVER_URL="+server)
	config := readText(t, filepath.Join(h.dir, ".git", "config"))

	seen := false
	stop := watchProcesses("cmdline", func(text string) { seen = seen || strings.Contains(text, hubToken) })
	a := h.binary("iterate", "--program", "p", "--json", "-n", "2")
	stop()
	assert.False(t, seen, "the token was in a process's arguments")
	require.Zero(t, a.code, a.stderr)
	results := h.decode(a.stdout)
	require.Len(t, results, 2)
	assert.Equal(t, "accepted", results[0].Outcome)
	assert.Equal(t, *results[0].Commit, head(t, h.bare, "autoloop/p"))
	assert.NotZero(t, backend.allowed.Load())
	assert.Zero(t, backend.refused.Load(), "the first request has it already")
	assert.NotContains(t, a.stdout+a.stderr, hubToken)

	after := readText(t, filepath.Join(h.dir, ".git", "config"))
	assert.Equal(t, config, after)
	require.NoError(t, filepath.WalkDir(h.dir, func(file string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(file)
		assert.NotContains(t, string(data), hubToken, file)
		return err
	}))

	h.env = append(h.env, "GITHUB_TOKEN=wrong-token-wrong-token")
	h.Change(func(*githubtest.State) { h.Token = "wrong-token-wrong-token" })
	a = h.binary("iterate", "--program", "p")
	assert.Equal(t, 1, a.code)
	assert.NotContains(t, a.stderr, "wrong-token")
	assert.NotContains(t, a.stderr, "d3JvbmctdG9rZW4", "nor in another writing")
}
