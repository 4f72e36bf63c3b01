package api

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"sync"
)

const (
	// maxMemory is how many answers are kept before all are forgotten, maxKept the largest.
	maxMemory = 128
	maxKept   = 8 << 20
)

// kept is an answer that can be revalidated.
type kept struct {
	ETag   string
	Header http.Header
	Body   []byte
}

// revalidator asks for what it has seen before with the ETag of then, always,
// whatever the answer said about its age: an answer without change costs no
// rate limit, and nothing stale is ever believed.
type revalidator struct {
	next http.RoundTripper

	mu sync.Mutex
	// known are the answers by their addresses and forms. The token is no part of that:
	// with whatever token, the server decides anew whether what we have is what it would
	// send.
	known map[string]*kept
}

// RoundTrip implements http.RoundTripper.
func (r *revalidator) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet || request.Header.Get("If-None-Match") != "" {
		return r.next.RoundTrip(request)
	}
	key := request.URL.String() + "\n" + request.Header.Get("Accept")
	r.mu.Lock()
	known := r.known[key]
	r.mu.Unlock()
	if known != nil {
		request = request.Clone(request.Context())
		request.Header.Set("If-None-Match", known.ETag)
	}
	answer, err := r.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	switch {
	case answer.StatusCode == http.StatusNotModified && known != nil:
		return known.answer(answer), nil
	case answer.StatusCode == http.StatusOK && answer.Header.Get("Etag") != "":
		r.keep(key, answer)
	}
	return answer, nil
}

func (r *revalidator) keep(key string, answer *http.Response) {
	body := bodyOf(answer)
	if len(body) > maxKept || !json.Valid(body) {
		return // an answer that was cut short would be revalidated for ever
	}
	fresh := &kept{ETag: answer.Header.Get("Etag"), Header: http.Header{}, Body: body}
	for _, name := range []string{"Content-Type", "Link", "Etag", "X-Oauth-Scopes"} {
		if value := answer.Header.Get(name); value != "" {
			fresh.Header.Set(name, value)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) == maxMemory || r.known == nil {
		r.known = map[string]*kept{}
	}
	r.known[key] = fresh
}

// answer makes the answer of then out of one without change. The headers of
// now win: a list's links to further pages change without its ETag.
func (k *kept) answer(now *http.Response) *http.Response {
	_ = now.Body.Close()
	full := *now
	full.Status, full.StatusCode = "200 OK", http.StatusOK
	full.Header = k.Header.Clone()
	maps.Copy(full.Header, now.Header)
	full.Body = io.NopCloser(bytes.NewReader(k.Body))
	full.ContentLength = int64(len(k.Body))
	return &full
}
