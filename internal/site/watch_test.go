package site

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/render/live"
	"github.com/org/autoloop/internal/render/page"
)

// TestWatcherAnswersLocalhost: whoever lacks the token, comes from another site or by
// another name gets nothing.
func TestWatcherAnswersLocalhost(t *testing.T) {
	t.Parallel()
	const host, token = "127.0.0.1:4321", "SECRET"
	const found, hidden, wrong = http.StatusOK, http.StatusNotFound, http.StatusMethodNotAllowed
	for name, c := range map[string]struct {
		request string // the method, the path and headers
		code    int
	}{
		"the page":                     {"GET /SECRET/", found},
		"the page to itself":           {"GET /SECRET/ Origin=http://127.0.0.1:4321", found},
		"no token":                     {"GET /", hidden},
		"another token":                {"GET /SECRES/", hidden},
		"the beginning of the token":   {"GET /SECRE/", hidden},
		"more than the token":          {"GET /SECRETS/", hidden},
		"state with another token":     {"GET /x/state", hidden},
		"another site":                 {"GET /SECRET/ Origin=https://evil.example", hidden},
		"a page without an origin":     {"GET /SECRET/ Origin=null", hidden},
		"another port of this machine": {"GET /SECRET/ Origin=http://127.0.0.1:4322", hidden},
		"a name that leads here":       {"GET /SECRET/ Host=evil.example:4321", hidden},
		"this machine by another name": {"GET /SECRET/ Host=localhost:4321", hidden},
		"something to write":           {"PUT /SECRET/", wrong},
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
				Now: time.Now,
			}
			asked, over := context.WithCancel(t.Context())
			over() // what is told for as long as somebody listens ends at once
			words := strings.Fields(c.request)
			request := httptest.NewRequestWithContext(asked, words[0], "http://"+host+words[1], nil)
			for _, header := range words[2:] {
				key, value, _ := strings.Cut(header, "=")
				if request.Header.Set(key, value); key == "Host" {
					request.Host = value
				}
			}
			answer := httptest.NewRecorder()
			w.Handler(host).ServeHTTP(answer, request)
			assert.Equal(t, c.code, answer.Code, answer.Body.String())
			if c.code != http.StatusOK {
				assert.Less(t, answer.Body.Len(), 30, "nothing is shown")
			}
		})
	}
}
