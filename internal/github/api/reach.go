package api

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
)

// UnreachableError says that the API answered nothing in this run. No further
// request of the run is sent.
type UnreachableError struct {
	host string
	told atomic.Bool
	err  error
}

// Error names the API and the reason.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("the API at %s cannot be reached: %v", e.host, e.err)
}

// Unwrap returns what went wrong with the first request.
func (e *UnreachableError) Unwrap() error { return e.err }

// Reported reports whether err is about an API that cannot be reached and was
// asked about before, so that people hear of it once in a run.
func Reported(err error) bool {
	var failed *UnreachableError
	return errors.As(err, &failed) && failed.told.Swap(true)
}

// reach sends nothing more in a run in which the API has answered nothing to the first
// request and its repeats. One that answered, be it with an error, is asked again.
type reach struct {
	next   http.RoundTripper
	wire   *wire
	failed atomic.Pointer[UnreachableError]
}

// RoundTrip implements http.RoundTripper.
func (r *reach) RoundTrip(request *http.Request) (*http.Response, error) {
	if failed := r.failed.Load(); failed != nil {
		return nil, failed
	}
	answer, err := r.next.RoundTrip(request)
	if err == nil || r.wire.answered.Load() || request.Context().Err() != nil {
		return answer, err
	}
	r.failed.CompareAndSwap(nil, &UnreachableError{host: request.URL.Host, err: err})
	return nil, r.failed.Load()
}
