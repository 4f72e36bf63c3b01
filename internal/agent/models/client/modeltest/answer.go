package modeltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// Answer is what the model says to one request.
type Answer struct {
	// Text is said first, then Calls are made.
	Text  string
	Calls []Call
	// Usage is counted for this answer.
	Usage Tokens

	// Status answers with an HTTP error instead, with Message and Code in the
	// protocol's form; 0 is a good answer.
	Status        int
	Message, Code string
	// Header is added, such as Retry-After.
	Header map[string]string
	// Raw is sent as it is, instead of all else, with Status (0 is 200).
	Raw string
	// Stall holds the request until the client gives up or the test ends.
	Stall bool
}

// Call is one tool call.
type Call struct {
	Name string
	// Arguments is a JSON object, or whatever else is to be sent as one.
	Arguments string
	// Freeform makes it OpenAI's custom tool call, whose input is plain text.
	Freeform bool
}

// Tokens is the consumption of one answer. Input includes Cached.
type Tokens struct{ Input, Cached, Output int64 }

// DefaultUsage counts for answers that give none.
func DefaultUsage() Tokens { return Tokens{Input: 1000, Cached: 400, Output: 50} }

// Text is an answer that ends the turn.
func Text(text string) Answer { return Answer{Text: text, Usage: DefaultUsage()} }

// Use is an answer that calls one tool with arguments, a value for JSON.
func Use(tool string, arguments any) Answer {
	data, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // The values are the test's own.
	}
	return Answer{Calls: []Call{{Name: tool, Arguments: string(data)}}, Usage: DefaultUsage()}
}

// Fail is an HTTP error.
func Fail(status int, message string) Answer { return Answer{Status: status, Message: message} }

// Wait is a 429 that asks to come back after some seconds.
func Wait(seconds int) Answer {
	return Answer{
		Status: http.StatusTooManyRequests, Message: "Rate limit reached for requests", Code: "rate_limit_exceeded",
		Header: map[string]string{"Retry-After": strconv.Itoa(seconds)},
	}
}

// Stall never answers.
func Stall() Answer { return Answer{Stall: true} }

func (a Answer) write(w http.ResponseWriter, r Request) {
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	switch {
	case a.Raw != "":
		w.WriteHeader(max(a.Status, http.StatusOK))
		fmt.Fprint(w, a.Raw)
	case a.Status != 0:
		writeJSON(w, a.Status, a.failure(r.Protocol))
	case r.Stream:
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		a.stream(w, r)
	default:
		writeJSON(w, http.StatusOK, a.whole(r))
	}
}

func (a Answer) whole(r Request) object {
	switch r.Protocol {
	case Messages:
		return a.message(r)
	case Responses:
		return a.response(r)
	case Chat:
		return a.completion(r)
	case Gemini:
		return a.generated(r)
	default:
		return nil
	}
}

func (a Answer) stream(w http.ResponseWriter, r Request) {
	switch r.Protocol {
	case Messages:
		a.streamMessage(w, r)
	case Responses:
		a.streamResponse(w, r)
	case Chat:
		a.streamCompletion(w, r)
	case Gemini:
		event(w, "", a.generated(r))
	}
}

// failure is the body of an error.
func (a Answer) failure(speaks Protocol) object {
	code := cmp.Or(a.Code, errorCode(a.Status))
	switch speaks {
	case Messages:
		return object{"type": "error", "error": object{"type": code, "message": a.Message}, "request_id": "req_test"}
	case Gemini:
		return object{"error": object{"code": a.Status, "message": a.Message, "status": geminiStatus(a.Status)}}
	default:
		return object{"error": object{"message": a.Message, "type": code, "code": code, "param": nil}}
	}
}

func errorCode(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= http.StatusInternalServerError:
		return "api_error"
	default:
		return "invalid_request_error"
	}
}

func geminiStatus(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case status == http.StatusForbidden:
		return "PERMISSION_DENIED"
	case status == http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case status >= http.StatusInternalServerError:
		return "INTERNAL"
	default:
		return "INVALID_ARGUMENT"
	}
}
