package tests

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
)

// request is one that the servers got.
type request struct {
	method, path, token string
	write               bool
	status              int
	// uploaded is how many artifacts of the run there were.
	uploaded int
}

// serve puts API, git and releases behind one address, as an installation of
// GitHub Enterprise Server does.
func (r *runner) serve() {
	t := r.t
	t.Helper()
	root := filepath.Join(r.side, "served")
	bare := filepath.Join(root, "org", "repo")
	require.NoError(t, os.MkdirAll(filepath.Dir(bare), 0o755))
	require.NoError(t, os.Rename(r.bare, bare))
	r.bare = bare
	r.run("", "git", "--git-dir", bare, "config", "http.receivepack", "true")
	r.Change(func(*githubtest.State) { r.Heads = func(branch string) string { return head(t, bare, branch) } })

	api, err := url.Parse(r.URL)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(q *httputil.ProxyRequest) {
		q.SetURL(api)
		q.Out.Header.Set("Authorization", "Bearer "+hubToken)
	}}
	mux := http.NewServeMux()
	mux.Handle("/api/v3/", http.StripPrefix("/api/v3", r.guard(proxy, func(q *http.Request) (string, bool) {
		return strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer "), q.Method != http.MethodGet
	})))
	mux.Handle("/org/repo/", r.guard(gitBackend(t, "", root), func(q *http.Request) (string, bool) {
		_, password, _ := q.BasicAuth()
		return password, strings.Contains(q.URL.RequestURI(), "git-receive-pack")
	}))
	for _, repository := range []string{"org/autoloop", "me/fork"} {
		release := "/" + repository + "/releases/download/v1.0.0/"
		mux.HandleFunc(release, func(w http.ResponseWriter, q *http.Request) {
			if (repository == "me/fork") != (len(r.forks) > 0) {
				http.NotFound(w, q) // a fork has what it needs of its own
				return
			}
			files := http.FileServer(http.Dir(filepath.Join(binaries, r.archives)))
			http.StripPrefix(release, files).ServeHTTP(w, q)
		})
	}
	mux.HandleFunc("POST /gh", r.cli)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	r.url = server.URL
	r.git("remote", "set-url", "origin", r.url+"/org/repo")
}

// guard lets in who has a token that may do it, and notes every request.
func (r *runner) guard(next http.Handler, asks func(*http.Request) (token string, write bool)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		token, write := asks(q)
		r.mu.Lock()
		mayWrite, known := r.tokens[token]
		r.mu.Unlock()
		status := http.StatusOK
		switch {
		case !known:
			status = http.StatusUnauthorized
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
			http.Error(w, `{"message": "Bad credentials"}`, status)
		case write && !mayWrite:
			status = http.StatusForbidden
			http.Error(w, `{"message": "Resource not accessible by integration"}`, status)
		}
		seen := request{method: q.Method, path: q.URL.RequestURI(), token: token, write: write, status: status}
		r.mu.Lock()
		seen.uploaded = len(r.uploads())
		r.requests = append(r.requests, seen)
		cut := r.cut
		r.mu.Unlock()
		serve := func() { next.ServeHTTP(w, q) }
		switch {
		case status != http.StatusOK:
		case cut != nil:
			cut(seen, serve)
		default:
			serve()
		}
	})
}

// seen returns the requests since the last time that it was asked.
func (r *runner) seen() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.requests
	r.requests = nil
	return list
}

// wrote returns those of the requests that were to change something.
func wrote(list []request) []request {
	var found []request
	for _, q := range list {
		if q.write {
			found = append(found, q)
		}
	}
	return found
}

// uploads lists the artifacts of the run that is under way.
func (r *runner) uploads() []string {
	entries, _ := os.ReadDir(filepath.Join(r.artifacts, strconv.Itoa(r.runs)))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
