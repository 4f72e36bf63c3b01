package cli

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPageAnswersLocalhost: whoever lacks the token, comes from another site or by
// another name gets nothing.
func TestPageAnswersLocalhost(t *testing.T) {
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
			mux := http.NewServeMux()
			nothing := answer("text/html", func(context.Context, io.Writer) error { return nil })
			mux.Handle("GET /{token}/{$}", nothing)
			mux.Handle("GET /{token}/state", nothing)
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
			got := httptest.NewRecorder()
			guarded(host, token, mux).ServeHTTP(got, request)
			assert.Equal(t, c.code, got.Code, got.Body.String())
			if c.code != http.StatusOK {
				assert.Less(t, got.Body.Len(), 30, "nothing is shown")
			}
		})
	}
}
