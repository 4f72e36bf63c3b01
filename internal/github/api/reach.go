package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// defaultReach is how long the first request of a run may take until the API has
// answered anything.
const defaultReach = 5 * time.Second

// UnreachableError says that the API answered nothing in this run. No further
// request of the run is sent.
type UnreachableError struct {
	host string
	told *atomic.Bool
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

// reach gives up on an API that does not answer the first request of a run. One
// that answered anything, be it an error, is tried again as usual.
type reach struct {
	next   http.RoundTripper
	wire   *wire
	host   string
	within time.Duration

	mu     sync.Mutex
	failed *UnreachableError
}

// RoundTrip implements http.RoundTripper.
func (r *reach) RoundTrip(request *http.Request) (*http.Response, error) {
	if r.wire.answered.Load() {
		return r.next.RoundTrip(request)
	}
	r.mu.Lock() // requests at the same time wait for the first
	defer r.mu.Unlock()
	if r.failed != nil {
		return nil, r.failed
	}
	if r.wire.answered.Load() {
		return r.next.RoundTrip(request)
	}
	ctx, cancel := context.WithCancelCause(request.Context())
	timer := time.AfterFunc(r.within, func() {
		if !r.wire.answered.Load() {
			cancel(fmt.Errorf("no answer within %s", r.within))
		}
	})
	defer timer.Stop()
	answer, err := r.next.RoundTrip(request.WithContext(ctx))
	if err == nil || r.wire.answered.Load() || request.Context().Err() != nil {
		return answer, err
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	r.failed = &UnreachableError{host: r.host, told: new(atomic.Bool), err: err}
	return nil, r.failed
}
