// Package modeltest is a model API on 127.0.0.1 that answers by a script:
// Anthropic's messages, OpenAI's responses and chat completions, and Gemini's
// generateContent, streamed or whole. Tests point real clients and real agents
// at it. Only tests import it.
package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// maxRequest bounds the body of one request.
const maxRequest = 32 << 20

// Server answers model requests. Its methods may be used while requests are
// under way.
type Server struct {
	// URL is the root, as http://127.0.0.1:PORT. Anthropic's clients take it as
	// it is, OpenAI's with /v1 added, Gemini's as it is.
	URL string

	answer func(Request) Answer
	closed chan struct{}

	mu       sync.Mutex
	requests []Request
	asked    int
}

// New starts a server that gives the answers in turn, one to each request, and
// the last one again to all that come after. It ends with the test.
func New(tb testing.TB, answers ...Answer) *Server {
	tb.Helper()
	return NewFunc(tb, func(r Request) Answer { return inTurn(answers, r.Number) })
}

// NewForAgents is New for coding agents: requests that offer no tools (titles,
// summaries, probes) are answered by a word and take no answer from the script.
func NewForAgents(tb testing.TB, answers ...Answer) *Server {
	tb.Helper()
	return NewFunc(tb, func(r Request) Answer {
		if r.Turn < 0 {
			return Text("ok")
		}
		return inTurn(answers, r.Turn)
	})
}

// NewFunc starts a server whose answers a function makes. It is called by
// several goroutines at once when there are several requests at once.
func NewFunc(tb testing.TB, answer func(Request) Answer) *Server {
	tb.Helper()
	s := &Server{answer: answer, closed: make(chan struct{})}
	listener := httptest.NewServer(s)
	s.URL = listener.URL
	tb.Cleanup(func() {
		close(s.closed) // stalled requests end, so that Close does not wait for them
		listener.CloseClientConnections()
		listener.Close()
	})
	return s
}

func inTurn(answers []Answer, turn int) Answer {
	if len(answers) == 0 {
		return Text("Done.")
	}
	return answers[min(turn, len(answers)-1)]
}

// Requests are the model requests so far, in the order in which they came.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Asked counts the requests that offered tools.
func (s *Server) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return
	}
	switch speaks := protocolOf(r.URL.Path); {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "count_tokens"):
		writeJSON(w, http.StatusOK, object{"input_tokens": 100})
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		writeJSON(w, http.StatusOK, object{"object": "list", "data": []object{{"id": "test-model", "object": "model"}}})
	case r.Method != http.MethodPost || speaks == "":
		http.NotFound(w, r)
	default:
		s.complete(w, r, newRequest(speaks, r, body))
	}
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request, request Request) {
	s.mu.Lock()
	request.Turn = -1
	if len(request.Tools) > 0 {
		request.Turn = s.asked
		s.asked++
	}
	request.Number = len(s.requests)
	s.requests = append(s.requests, request)
	s.mu.Unlock()
	answer := s.answer(request)
	if answer.Stall {
		select {
		case <-r.Context().Done():
		case <-s.closed:
		}
		return
	}
	answer.write(w, request)
}

type object = map[string]any

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // A client that went away is its own affair.
}

// event writes one server-sent event; an empty name leaves the line out.
func event(w io.Writer, name string, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // The values are our own.
	}
	if name != "" {
		fmt.Fprintf(w, "event: %s\n", name)
	}
	fmt.Fprintf(w, "data: %s\n\n", data)
}
