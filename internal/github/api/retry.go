package api

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"
)

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
