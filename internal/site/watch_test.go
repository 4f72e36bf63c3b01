package site

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/loop/live"
	"github.com/org/autoloop/internal/render/page"
)

// TestWhoTheWatcherAnswers: whoever lacks the token, comes from another site or by
// another name gets nothing, and only its own button asks a run to stop.
func TestWhoTheWatcherAnswers(t *testing.T) {
	t.Parallel()
	const host, token = "127.0.0.1:4321", "SECRET"
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	button := header("X-Autoloop", "stop")
	for name, c := range map[string]struct {
		method, path string
		change       []func(*http.Request)
		code         int
		stops        bool
	}{
		"the page": {http.MethodGet, "/SECRET/", nil, http.StatusOK, false},
		"the page to itself": {
			http.MethodGet, "/SECRET/",
			[]func(*http.Request){header("Origin", "http://"+host)},
			http.StatusOK, false,
		},
		"the button": {
			http.MethodPost, "/SECRET/stop",
			[]func(*http.Request){button},
			http.StatusOK, true,
		},
		"no token":                   {http.MethodGet, "/", nil, http.StatusNotFound, false},
		"another token":              {http.MethodGet, "/SECRES/", nil, http.StatusNotFound, false},
		"the beginning of the token": {http.MethodGet, "/SECRE/", nil, http.StatusNotFound, false},
		"more than the token":        {http.MethodGet, "/SECRETS/", nil, http.StatusNotFound, false},
		"events with another token":  {http.MethodGet, "/x/events", nil, http.StatusNotFound, false},
		"the button with another token": {
			http.MethodPost, "/x/stop",
			[]func(*http.Request){button},
			http.StatusNotFound, false,
		},
		"another site": {
			http.MethodGet, "/SECRET/",
			[]func(*http.Request){header("Origin", "https://evil.example")},
			http.StatusNotFound, false,
		},
		"a page without an origin": {
			http.MethodGet, "/SECRET/",
			[]func(*http.Request){header("Origin", "null")},
			http.StatusNotFound, false,
		},
		"another port of this machine": {
			http.MethodPost, "/SECRET/stop",
			[]func(*http.Request){button, header("Origin", "http://127.0.0.1:4322")},
			http.StatusNotFound, false,
		},
		"a name that leads here": {
			http.MethodGet, "/SECRET/",
			[]func(*http.Request){func(r *http.Request) { r.Host = "evil.example:4321" }},
			http.StatusNotFound, false,
		},
		"this machine by another name": {
			http.MethodPost, "/SECRET/stop",
			[]func(*http.Request){button, func(r *http.Request) { r.Host = "localhost:4321" }},
			http.StatusNotFound, false,
		},
		"a form of another site": {http.MethodPost, "/SECRET/stop", nil, http.StatusNotFound, false},
		"the button by a plain visit": {
			http.MethodGet, "/SECRET/stop",
			[]func(*http.Request){button},
			http.StatusMethodNotAllowed, false,
		},
		"something to write": {http.MethodPut, "/SECRET/", nil, http.StatusMethodNotAllowed, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			board := live.New(dir)
			run, err := board.Begin("speed")
			require.NoError(t, err)
			defer run.Close()
			w := &Watcher{
				Make:    func(context.Context) (*page.Site, error) { return &page.Site{}, nil },
				Version: func(context.Context) (string, error) { return "v", nil },
				Board:   board, Token: token,
				Tick: func() (<-chan time.Time, func()) { return nil, func() {} },
			}
			asked, over := context.WithCancel(t.Context())
			over() // what is told for as long as somebody listens ends at once
			request := httptest.NewRequestWithContext(asked, c.method, "http://"+host+c.path, nil)
			for _, change := range c.change {
				change(request)
			}
			answer := httptest.NewRecorder()
			w.Handler(host).ServeHTTP(answer, request)
			assert.Equal(t, c.code, answer.Code, answer.Body.String())
			if c.code != http.StatusOK {
				assert.Less(t, answer.Body.Len(), 30, "nothing is shown")
			}
			assert.Equal(t, c.stops, run.StopAsked())
			if !c.stops {
				assert.Empty(t, filesOf(t, dir, "stop"))
			}
		})
	}
}

func filesOf(t *testing.T, dir, name string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "autoloop", "live", "*", name))
	require.NoError(t, err)
	return found
}
