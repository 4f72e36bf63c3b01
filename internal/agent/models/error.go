package models

import (
	"fmt"
	"time"
)

// Kind says why a request was not answered.
type Kind string

// The kinds of error.
const (
	Authentication Kind = "authentication" // no key, or one that is refused
	RateLimit      Kind = "rate-limit"     // too many requests; see RetryAfter
	Budget         Kind = "budget"         // the account's money or quota is used up
	Timeout        Kind = "timeout"        // no answer within the time given
	Server         Kind = "server"         // the server failed, or cannot be reached
	TooLarge       Kind = "too-large"      // more tokens than the model takes
	Invalid        Kind = "invalid"        // refused for another reason: a model that does not exist, …
	Malformed      Kind = "malformed"      // an answer that cannot be read
)

// Error is why a request was not answered.
type Error struct {
	Kind Kind
	// Status is the HTTP status, 0 when there was none.
	Status int
	// Message is one bounded line without the key, with what to do next where
	// that is known.
	Message string
	// RetryAfter is how long to wait from the moment of the answer; 0 when the
	// server did not say.
	RetryAfter time.Duration
}

// Error gives kind, status and message.
func (e *Error) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("%s: %s", e.Kind, e.Message)
	}
	return fmt.Sprintf("%s (HTTP %d): %s", e.Kind, e.Status, e.Message)
}
