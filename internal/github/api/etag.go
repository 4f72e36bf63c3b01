package api

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"sync"
)

const (
	// maxMemory is how many answers are kept, maxKept the largest.
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
	next   http.RoundTripper
	memory *rememberer
}

// RoundTrip implements http.RoundTripper.
func (r *revalidator) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet || request.Header.Get("If-None-Match") != "" {
		return r.next.RoundTrip(request)
	}
	key := keyOf(request)
	known := r.memory.get(key)
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
		r.memory.put(key, known)
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
	r.memory.put(key, fresh)
}

// forget drops everything that was kept: one of the answers does not decode.
func (r *revalidator) forget() {
	r.memory.clear()
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

// keyOf names an answer. The token is no part of it: with whatever token, the
// server decides anew whether what we have is what it would send.
func keyOf(request *http.Request) string {
	sum := sha256.Sum256([]byte(request.URL.String() + "\n" + request.Header.Get("Accept")))
	return hex.EncodeToString(sum[:])
}

// memory keeps the answers that were used last.
type rememberer struct {
	mu    sync.Mutex
	items map[string]*list.Element
	order *list.List // of *remembered, the latest first
}

type remembered struct {
	key string
	kept
}

func newMemory() *rememberer {
	return &rememberer{items: map[string]*list.Element{}, order: list.New()}
}

func (m *rememberer) get(key string) *kept {
	m.mu.Lock()
	defer m.mu.Unlock()
	element, found := m.items[key]
	if !found {
		return nil
	}
	m.order.MoveToFront(element)
	return &element.Value.(*remembered).kept //nolint:errcheck // the list holds nothing else
}

func (m *rememberer) put(key string, answer *kept) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if element, found := m.items[key]; found {
		m.order.Remove(element)
	}
	m.items[key] = m.order.PushFront(&remembered{key, *answer})
	if m.order.Len() > maxMemory {
		oldest := m.order.Back()
		delete(m.items, m.order.Remove(oldest).(*remembered).key) //nolint:errcheck // the list holds nothing else
	}
}

func (m *rememberer) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.items)
	m.order.Init()
}
