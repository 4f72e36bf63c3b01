package githubtest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server answers as GitHub's REST API does. Its fields are to be set within
// Change.
type Server struct {
	// URL is the base of the API, without a slash at the end.
	URL string
	// Token, when set, is the one that is asked for.
	Token string
	// Reader, when set, is another that may only read: a request with it that is
	// to change something fails the test.
	Reader string
	// Heads tells the commit of a branch of the git repository, "" for a
	// missing one. Nil: State.Branches says it.
	Heads func(branch string) string
	// CI, when set, is the conclusion of the check `build` of a commit that no
	// check was reported for, if any; "running" is one that does not end.
	CI func(commit string) string
	// Now tells the time of the server.
	Now func() time.Time

	t      testing.TB
	mu     sync.Mutex
	state  *State
	faults []*Fault
	log    []Call
}

// Call is a request that was answered.
type Call struct {
	Method, Path string
	// Pattern is the path with names for its variable parts.
	Pattern string
	Status  int
}

// Write says whether it was meant to change something.
func (c Call) Write() bool { return c.Method != http.MethodGet }

// New starts a server that ends with the test.
func New(t testing.TB, state *State) *Server {
	t.Helper()
	s := &Server{t: t, state: state, Now: time.Now}
	if _, err := description(); err != nil { // now, since a request is not waited for that long
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	s.routes(mux)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(mux, w, r) }))
	s.URL = server.URL
	t.Cleanup(server.Close)
	return s
}

// Change looks at the state, or changes it, while no request is answered.
func (s *Server) Change(change func(*State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.state)
}

// Calls returns the requests since the last time that it was asked.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.log
	s.log = nil
	return calls
}

// errAnswer is an answer of GitHub that says what is wrong.
type errAnswer struct {
	status  int
	message string
}

func (e errAnswer) Error() string { return e.message }

var (
	errNotFound = errAnswer{http.StatusNotFound, "Not Found"}
	errForbids  = errAnswer{http.StatusForbidden, "Resource not accessible by integration"}
)

func unprocessable(format string, args ...any) error {
	return errAnswer{http.StatusUnprocessableEntity, "Validation Failed: " + fmt.Sprintf(format, args...)}
}

// reply is an answer before it is written.
type reply struct {
	status int
	body   any
	// more is the number of the last page, for lists.
	last int
}

// handler answers one kind of request, with the state locked.
type handler func(s *State, r *http.Request) (reply, error)

func (s *Server) serve(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	token, reader, now := s.Token, s.Reader, s.Now
	s.mu.Unlock()
	if reader != "" && r.Header.Get("Authorization") == "Bearer "+reader {
		if token = reader; r.Method != http.MethodGet {
			s.t.Errorf("githubtest: %s %s with a token that may only read", r.Method, r.URL)
			s.refuse(w, errForbids)
			return
		}
	}
	if token != "" && r.Header.Get("Authorization") != "Bearer "+token {
		s.refuse(w, errAnswer{http.StatusUnauthorized, "Bad credentials"})
		return
	}
	_, pattern := mux.Handler(r)
	_, path, _ := strings.Cut(pattern, " ")
	if pattern == "" {
		s.t.Errorf("githubtest: unexpected request %s %s", r.Method, r.URL)
		s.refuse(w, errNotFound)
		return
	}
	fault := s.fault(r, path)
	if fault != nil && fault.Kind == Cut {
		s.cut(mux, w, r)
		s.note(r, path, http.StatusOK)
		return
	}
	if fault != nil && !fault.After && fault.fail(w, r, now()) {
		s.note(r, path, fault.status())
		return
	}
	if fault != nil && fault.After {
		aside := httptest.NewRecorder()
		mux.ServeHTTP(aside, r)
		s.note(r, path, aside.Code)
		fault.fail(w, r, now())
		return
	}
	recorder := &recorder{ResponseWriter: w}
	mux.ServeHTTP(recorder, r)
	s.note(r, path, recorder.status)
}

// cut sends the first half of an answer, as a proxy does that gives up.
func (s *Server) cut(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	whole := httptest.NewRecorder()
	fresh := r.Clone(r.Context())
	fresh.Header.Del("If-None-Match")
	mux.ServeHTTP(whole, fresh)
	maps.Copy(w.Header(), whole.Header())
	_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
}

type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (s *Server) note(r *http.Request, pattern string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, Call{Method: r.Method, Path: r.URL.RequestURI(), Pattern: pattern, Status: status})
}

func (s *Server) refuse(w http.ResponseWriter, e errAnswer) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(e.status)
	_ = json.NewEncoder(w).Encode(map[string]string{
		"message":           e.message,
		"documentation_url": "https://docs.github.com/rest",
	})
}

// handle registers a handler under its method and its path in the description.
func (s *Server) handle(mux *http.ServeMux, method, path string, answer handler) {
	mux.HandleFunc(method+" "+path, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err != nil {
			s.refuse(w, errAnswer{http.StatusBadRequest, err.Error()})
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if err := checkRequest(method, path, body); err != nil {
			s.t.Errorf("githubtest: %s %s: request: %v", method, r.URL, err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		named := r.PathValue("owner") + "/" + r.PathValue("repo")
		if named == s.state.OldName && named != "/" {
			status := http.StatusMovedPermanently
			if r.Method != http.MethodGet {
				status = http.StatusTemporaryRedirect
			}
			http.Redirect(w, r, strings.Replace(r.URL.String(), named, s.state.Repository, 1), status)
			return
		}
		if named != s.state.Repository && named != "/" {
			s.refuse(w, errNotFound)
			return
		}
		issue, pull := number(r, "issue_number"), number(r, "pull_number")
		if issue != 0 && s.state.Issue(issue) == nil || pull != 0 && s.state.Pull(pull) == nil {
			s.refuse(w, errNotFound)
			return
		}
		result, err := answer(s.state, r)
		if refused, is := err.(errAnswer); is { //nolint:errorlint // these are not wrapped
			s.refuse(w, refused)
			return
		}
		if err != nil {
			s.refuse(w, errAnswer{http.StatusBadRequest, err.Error()})
			return
		}
		s.write(w, r, path, result)
	})
}

// write sends an answer with its ETag and limits, after holding it against the
// description.
func (s *Server) write(w http.ResponseWriter, r *http.Request, path string, result reply) {
	text, err := written(r.Method, path, result.status, result.body)
	if err != nil {
		s.t.Errorf("githubtest: %s %s: answer: %v", r.Method, r.URL, err)
	}
	header := w.Header()
	header.Set("Content-Type", "application/json; charset=utf-8")
	header.Set("X-Ratelimit-Limit", "5000")
	header.Set("X-Ratelimit-Remaining", "4999")
	header.Set("X-Ratelimit-Reset", strconv.FormatInt(s.Now().Add(time.Hour).Unix(), 10))
	header.Set("X-Ratelimit-Resource", "core")
	links(header, r, s.URL, result.last)
	if r.Method == http.MethodGet {
		tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(text))
		header.Set("Etag", tag)
		header.Set("Cache-Control", "private, max-age=60, s-maxage=60")
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.WriteHeader(result.status)
	if result.body != nil {
		_, _ = w.Write(text)
	}
}

// links adds the addresses of other pages of a list.
func links(header http.Header, r *http.Request, base string, last int) {
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	if page = max(page, 1); page >= last {
		return
	}
	at := func(page int) string {
		query := r.URL.Query()
		query.Set("page", strconv.Itoa(page))
		return "<" + base + r.URL.Path + "?" + query.Encode() + ">"
	}
	header.Set("Link", at(page+1)+`; rel="next", `+at(last)+`; rel="last"`)
}

// paged cuts a list to the page that is asked for.
func paged[T any](r *http.Request, list []T) (page []T, last int) {
	size, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
	if size <= 0 || size > 100 {
		size = 30
	}
	number, _ := strconv.Atoi(r.URL.Query().Get("page"))
	from := min((max(number, 1)-1)*size, len(list))
	return list[from:min(from+size, len(list))], (len(list) + size - 1) / size
}

// decode reads the body of a request, which was held against the description.
func decode(r *http.Request, into any) { _ = json.NewDecoder(r.Body).Decode(into) }

// number reads a number of the path.
func number(r *http.Request, name string) int {
	n, _ := strconv.Atoi(r.PathValue(name))
	return n
}
