package modeltest

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Protocol is the API that a request speaks.
type Protocol string

// The protocols.
const (
	Messages  Protocol = "messages"  // Anthropic: POST …/messages
	Responses Protocol = "responses" // OpenAI: POST …/responses
	Chat      Protocol = "chat"      // OpenAI: POST …/chat/completions
	Gemini    Protocol = "gemini"    // Google: POST …:generateContent, …:streamGenerateContent
)

// Request is one model request as it came.
type Request struct {
	Protocol Protocol
	// Number counts all requests from 0; Turn counts those that offer tools,
	// and is -1 for one that offers none.
	Number, Turn int
	// Path is the path of the URL, with the query.
	Path   string
	Header http.Header
	Body   []byte
	// Model is the model that was asked, Tools the names of the tools offered.
	Model string
	Tools []string
	// Stream says that the answer is wanted as server-sent events.
	Stream bool
}

// Key is the API key that came with the request, or "".
func (r Request) Key() string {
	for _, name := range []string{"X-Api-Key", "X-Goog-Api-Key"} {
		if key := r.Header.Get(name); key != "" {
			return key
		}
	}
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// Has reports whether text is in the body, as JSON writes it.
func (r Request) Has(text string) bool {
	quoted, err := json.Marshal(text)
	return err == nil && strings.Contains(string(r.Body), string(quoted[1:len(quoted)-1]))
}

func protocolOf(path string) Protocol {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return Messages
	case strings.HasSuffix(path, "/responses"):
		return Responses
	case strings.HasSuffix(path, "/chat/completions"):
		return Chat
	case strings.HasSuffix(path, "enerateContent"):
		return Gemini
	default:
		return ""
	}
}

// newRequest reads what all protocols have in common. Tools are named at the
// top level (Messages, Responses), under "function" (Chat), or in lists of
// declarations (Gemini).
func newRequest(speaks Protocol, r *http.Request, body []byte) Request {
	request := Request{Protocol: speaks, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: body}
	var fields struct {
		Model  string
		Stream bool
		Tools  []struct {
			Name, Type           string
			Function             struct{ Name string }
			FunctionDeclarations []struct{ Name string }
		}
	}
	_ = json.Unmarshal(body, &fields) // What cannot be read is empty; the test sees the body.
	request.Model, request.Stream = fields.Model, fields.Stream
	if speaks == Gemini {
		_, model, _ := strings.Cut(r.URL.Path, "/models/")
		request.Model, _, _ = strings.Cut(model, ":")
		request.Stream = strings.Contains(r.URL.Path, ":streamGenerateContent")
	}
	for _, tool := range fields.Tools {
		switch {
		case tool.Function.Name != "":
			request.Tools = append(request.Tools, tool.Function.Name)
		case tool.Name != "":
			request.Tools = append(request.Tools, tool.Name)
		case tool.Type != "":
			request.Tools = append(request.Tools, tool.Type)
		}
		for _, declared := range tool.FunctionDeclarations {
			request.Tools = append(request.Tools, declared.Name)
		}
	}
	return request
}
