package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// maxAnswer bounds one answer in bytes. A page of 100 issues with the longest
// bodies that GitHub allows has 26 MB.
const maxAnswer = 32 << 20

// wire sends one request, counts it, and reads its answer whole within the
// timeout, so that a connection that breaks in the middle of an answer is a
// failed request like any other.
type wire struct {
	next    http.RoundTripper
	timeout time.Duration
	sent    atomic.Int64
	changes atomic.Int64
	// answered says that the API was reached.
	answered atomic.Bool
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(request *http.Request) (*http.Response, error) {
	w.sent.Add(1)
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		w.changes.Add(1)
	}
	ctx, cancel := context.WithTimeout(request.Context(), w.timeout)
	defer cancel()
	answer, err := w.next.RoundTrip(request.WithContext(ctx))
	if err == nil || errors.Is(err, io.EOF) {
		w.answered.Store(true) // also by a server that hangs up
	}
	if err != nil {
		return nil, w.explain(request, err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return nil, w.explain(request, err)
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("the answer is larger than %d MB", maxAnswer>>20)
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	answer.ContentLength = int64(len(body))
	return answer, nil
}

// explain says of a timeout of ours that it was one.
func (w *wire) explain(request *http.Request, err error) error {
	if request.Context().Err() == nil && isTimeout(err) {
		return fmt.Errorf("no answer within %s: %w", w.timeout, err)
	}
	return err
}

// bodyOf reads an answer's body and puts it back.
func bodyOf(answer *http.Response) []byte {
	body, _ := io.ReadAll(answer.Body) // in memory already, see wire
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return body
}

// again is the request with its body from the start.
func again(request *http.Request) (*http.Request, error) {
	fresh := request.Clone(request.Context())
	if request.Body == nil || request.Body == http.NoBody {
		return fresh, nil
	}
	if request.GetBody == nil {
		return nil, fmt.Errorf("the body of %s %s cannot be sent twice", request.Method, request.URL.Path)
	}
	body, err := request.GetBody()
	if err != nil {
		return nil, err
	}
	fresh.Body = body
	return fresh, nil
}

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

// maxTries is how often a request is sent that fails in passing.
const maxTries = 4

// retrier sends requests again: after a rate limit all of them, since nothing
// was done; after a 5xx answer or a broken connection only those that may be
// repeated. Its waits together stay below the patience.
type retrier struct {
	next     http.RoundTripper
	sleep    func(context.Context, time.Duration) error
	now      func() time.Time
	patience time.Duration
}

// RoundTrip implements http.RoundTripper.
func (r *retrier) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	delays := backoff.NewExponentialBackOff()
	delays.InitialInterval, delays.Multiplier = time.Second, 2
	left := r.patience
	for try := 1; ; try++ {
		attempt, err := again(request)
		if err != nil {
			return nil, err
		}
		answer, err := r.next.RoundTrip(attempt)
		wait, repeat := r.verdict(request, answer, err, delays)
		if !repeat || try == maxTries || wait > left || ctx.Err() != nil {
			return answer, err
		}
		if answer != nil {
			_ = answer.Body.Close()
		}
		left -= wait
		if err := r.sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// verdict says whether to send a request again, and how long to wait before.
func (r *retrier) verdict(request *http.Request, answer *http.Response, err error,
	delays backoff.BackOff,
) (time.Duration, bool) {
	var limit *LimitError
	switch {
	case errors.As(err, &limit):
		return max(limit.Until.Sub(r.now()), 0) + time.Second, true
	case err == nil && answer.StatusCode < http.StatusInternalServerError:
		return 0, false
	case request.Method == http.MethodPost && request.Context().Value(repeatableKey{}) == nil:
		return 0, false // What we send with PATCH sets values, so it may be sent twice.
	default:
		return delays.NextBackOff(), true
	}
}

type repeatableKey struct{}

// mayRepeat marks the calls under ctx whose POST has no further effect when it
// is sent twice, such as adding a label.
func mayRepeat(ctx context.Context) context.Context {
	return context.WithValue(ctx, repeatableKey{}, true)
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}
