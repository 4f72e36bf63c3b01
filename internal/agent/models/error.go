package models

import (
	"fmt"
	"time"
)

// ErrorKind says why a request was not answered.
type ErrorKind string

// The kinds of error.
const (
	Authentication ErrorKind = "authentication" // no key, or one that is refused
	RateLimit      ErrorKind = "rate-limit"     // too many requests; see RetryAfter
	Budget         ErrorKind = "budget"         // the account's money or quota is used up
	Timeout        ErrorKind = "timeout"        // no answer within the time given
	Server         ErrorKind = "server"         // the server failed, or cannot be reached
	TooLarge       ErrorKind = "too-large"      // more tokens than the model takes
	Invalid        ErrorKind = "invalid"        // refused for another reason: a model that does not exist, …
	Malformed      ErrorKind = "malformed"      // an answer that cannot be read
)

// Error is why a request was not answered.
type Error struct {
	Kind ErrorKind
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
