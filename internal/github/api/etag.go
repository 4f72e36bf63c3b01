package api

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

const (
	// maxMemory and maxDisk are how many answers are kept, maxKept the largest.
	maxMemory, maxDisk = 128, 256
	maxKept            = 8 << 20
)

// kept is an answer that can be revalidated.
type kept struct {
	ETag   string      `json:"etag"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

// revalidator asks for what it has seen before with the ETag of then, always,
// whatever the answer said about its age: an answer without change costs no
// rate limit, and nothing stale is ever believed.
type revalidator struct {
	next   http.RoundTripper
	memory *rememberer
	dir    *disk
}

// RoundTrip implements http.RoundTripper.
func (r *revalidator) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet || request.Header.Get("If-None-Match") != "" {
		return r.next.RoundTrip(request)
	}
	key := keyOf(request)
	known := r.memory.get(key)
	if known == nil {
		known = r.dir.get(key)
	}
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
	r.dir.put(key, fresh)
}

// forget drops everything that was kept: one of the answers does not decode.
func (r *revalidator) forget() {
	r.memory.clear()
	r.dir.clear()
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

// disk keeps answers in files, for the next run. What goes wrong with them
// only costs requests, so it is not reported.
type disk struct{ dir string }

func newDisk(dir string) *disk {
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return nil
	}
	d := &disk{dir}
	d.prune()
	return d
}

func (d *disk) get(key string) *kept {
	if d == nil {
		return nil
	}
	data, err := os.ReadFile(d.file(key))
	var answer kept
	if err != nil || len(data) > 2*maxKept || json.Unmarshal(data, &answer) != nil || answer.ETag == "" || !json.Valid(answer.Body) {
		return nil
	}
	return &answer
}

func (d *disk) put(key string, answer *kept) {
	if d == nil {
		return
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return
	}
	file, err := os.CreateTemp(d.dir, "new-*")
	if err != nil {
		return
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), d.file(key))
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
}

func (d *disk) clear() {
	if d == nil {
		return
	}
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".json" {
			_ = os.Remove(filepath.Join(d.dir, entry.Name()))
		}
	}
}

func (d *disk) file(key string) string { return filepath.Join(d.dir, key+".json") }

// prune removes the oldest files beyond the bound.
func (d *disk) prune() {
	entries, err := os.ReadDir(d.dir)
	if err != nil || len(entries) <= maxDisk {
		return
	}
	age := func(entry fs.DirEntry) int64 {
		info, err := entry.Info()
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return int((age(a) - age(b)) / 1e6) })
	for _, entry := range entries[:len(entries)-maxDisk] {
		if name := entry.Name(); filepath.Ext(name) == ".json" || len(name) > 4 && name[:4] == "new-" {
			_ = os.Remove(filepath.Join(d.dir, name))
		}
	}
}
