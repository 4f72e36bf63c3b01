package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// front stands before the emulator. It serves the repository over HTTP, lets
// the emulator know what was pushed, and passes everything else on; where it
// differs from it is in the tables of answers, absent and fixed.
type front struct {
	t        *testing.T
	emulator *url.URL
	mirror   *mirror
	git      *gitServer
	api      *httputil.ReverseProxy

	mu sync.Mutex
	// ended are the heads of pull requests at the time when they ended.
	ended map[int]string
	// sent counts what the binaries asked.
	sent int
	// judge is CI, nil when it says nothing by itself; report hands on what it
	// says.
	judge  func(commit string) string
	report func(commit, name, conclusion, text string)
}

const atRepository = "/repos/" + emulatedRepository

// newFront starts a front before an emulator, and returns its address.
func newFront(t *testing.T, emulator, bare string) (f *front, address string) {
	t.Helper()
	target, err := url.Parse(emulator)
	if err != nil {
		t.Fatal(err)
	}
	f = &front{t: t, emulator: target, ended: map[int]string{}}
	f.git = newGitServer(t, "/"+emulatedRepository+".git", bare)
	f.mirror = newMirror(bare, func(method, path string, body, into any) error {
		return rest(t, emulator, emulatedOwner, method, path, body, into)
	})
	f.api = &httputil.ReverseProxy{
		Transport: notKept(),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // links to further pages lead back here
		},
		ModifyResponse: f.fix,
	}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, server.URL
}

// notKept makes a connection for each request: the emulator closes one that was
// idle for a while, and a request with a body that meets this is lost.
func notKept() *http.Transport { return &http.Transport{DisableKeepAlives: true} }

// ServeHTTP implements http.Handler.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if strings.HasPrefix(r.URL.Path, f.git.backend.Root+"/") {
		f.serveGit(w, r)
		return
	}
	if ofBinary(r) && !aboutCI(r.URL.Path) {
		f.sent++
	}
	if f.answer(w, r) {
		return
	}
	f.note(r)
	f.api.ServeHTTP(w, r)
}

// ofBinary says whether a request is of one of the binaries, and not of a
// person.
func ofBinary(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+hubToken }

// serveGit answers a push only when the emulator knows of it.
func (f *front) serveGit(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
		f.git.ServeHTTP(w, r)
		return
	}
	answer := httptest.NewRecorder()
	f.git.ServeHTTP(answer, r)
	f.pushed()
	for key, values := range answer.Header() {
		w.Header()[key] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// pushed lets the emulator, and then CI, know of a push.
func (f *front) pushed() {
	moved, err := f.mirror.sync()
	if err != nil {
		f.t.Errorf("mirror a push: %v", err)
	}
	for _, ref := range moved {
		if f.judge == nil || !strings.HasPrefix(ref, "refs/heads/autoloop/") {
			continue
		}
		commit := f.mirror.refs[ref]
		if conclusion := f.judge(commit); conclusion != "" {
			f.report(commit, "build", conclusion, "error: "+conclusion)
		}
	}
}

var pullPath = regexp.MustCompile(`^` + atRepository + `/pulls/(\d+)(/merge)?$`)

// note remembers the head of a pull request that ends with this request: from
// then on pushes to its branch change it no more.
func (f *front) note(r *http.Request) {
	match := pullPath.FindStringSubmatch(r.URL.Path)
	if match == nil || r.Method != http.MethodPatch && r.Method != http.MethodPut {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Errorf("read %s: %v", r.URL, err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var asked struct{ State string }
	_ = json.Unmarshal(body, &asked) // the emulator says what is wrong with it
	if match[2] == "" && asked.State != "closed" {
		return
	}
	number, _ := strconv.Atoi(match[1])
	var pull struct{ Head struct{ Ref string } }
	if err := f.mirror.call(http.MethodGet, fmt.Sprintf("pulls/%d", number), nil, &pull); err == nil {
		f.ended[number] = f.mirror.refs["refs/heads/"+pull.Head.Ref]
	}
}

// answer answers in the emulator's place, and says whether it did.
func (f *front) answer(w http.ResponseWriter, r *http.Request) bool {
	for _, a := range answers() {
		if r.Method == http.MethodGet && a.path.MatchString(r.URL.Path) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_ = json.NewEncoder(w).Encode(a.answer(f, r))
			return true
		}
	}
	return false
}

// fix puts right what the emulator answers.
func (f *front) fix(answer *http.Response) error {
	r := answer.Request
	if answer.StatusCode >= http.StatusInternalServerError {
		f.t.Errorf("the emulator answers %d to %s %s", answer.StatusCode, r.Method, r.URL)
	}
	if answer.StatusCode == http.StatusNotFound && ofBinary(r) && !known(r) {
		f.t.Errorf("the emulator does not have %s %s", r.Method, r.URL)
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return nil
	}
	for _, m := range fixed() {
		if m.path.MatchString(r.URL.Path) {
			return change(answer, func(value any) any { return m.change(f, r.URL.Path, value) })
		}
	}
	return nil
}

func known(r *http.Request) bool {
	for _, a := range absent() {
		if a.method == r.Method && a.path.MatchString(r.URL.Path) {
			return true
		}
	}
	return false
}

// change changes the JSON of an answer.
func change(answer *http.Response, by func(any) any) error {
	decoder := json.NewDecoder(answer.Body)
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	_ = answer.Body.Close()
	text, err := json.Marshal(by(value))
	if err != nil {
		return err
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	answer.Header.Set("Content-Length", strconv.Itoa(len(text)))
	return nil
}
