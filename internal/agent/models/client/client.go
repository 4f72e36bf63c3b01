// Package client asks language models over HTTP: endpoints that speak OpenAI's
// chat completions (GitHub Models among them) and Anthropic's messages. It
// returns exact usage and typed errors, and sends a key to its own host alone.
package client

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/org/autoloop/internal/agent/models"
)

// The bounds of a request.
const (
	// maxAnswer is how many bytes of a response are read.
	maxAnswer = 8 << 20
	// attempts is how often a request is sent at most.
	attempts = 4
	// patience is the longest pause between two attempts. A server that asks
	// for more gets the caller's error instead.
	patience = 30 * time.Second
	// perAttempt bounds one attempt, so that one that stalls is not the last.
	perAttempt = 5 * time.Minute
)

// Client sends requests. The zero Client is ready for use, also by several
// goroutines at once.
type Client struct {
	// Pause is the first pause after a server's failure, doubled each time; 0
	// means one second.
	Pause time.Duration
	// PerAttempt bounds one attempt; 0 means five minutes. The context bounds
	// the whole.
	PerAttempt time.Duration
	// HTTP sends the requests; nil means a client of our own. Redirects are
	// never followed.
	HTTP *http.Client
}

// Complete asks a model and returns its answer. It tries again, with growing
// pauses, only when the server did not do the work: after 429 when the time to
// wait is short, after a 5xx, and when no connection came about. The error is a
// *models.Error, or the cause when ctx was cancelled.
func (c *Client) Complete(ctx context.Context, endpoint models.Endpoint,
	request models.Request,
) (models.Response, error) {
	call, err := newCall(endpoint, request)
	if err != nil {
		return models.Response{}, err
	}
	var last error
	response, err := backoff.Retry(ctx, func() (models.Response, error) {
		var response models.Response
		response, last = c.adapted(ctx, call)
		return response, pace(last)
	}, backoff.WithBackOff(c.pauses()), backoff.WithMaxTries(attempts), backoff.WithMaxElapsedTime(0))
	if err == nil {
		return response, nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return models.Response{}, context.Cause(ctx)
	}
	return models.Response{}, last
}

// adapted sends a request, and again without what this endpoint does not know.
func (c *Client) adapted(ctx context.Context, call *call) (models.Response, error) {
	for {
		response, err := c.send(ctx, call)
		if err == nil || !call.adapt(err) {
			return response, err
		}
	}
}

func (c *Client) pauses() backoff.BackOff {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.Multiplier, pauses.MaxInterval = cmp.Or(c.Pause, time.Second), 2, patience
	return pauses
}

// pace says whether, and when, an attempt may be followed by another.
func pace(err error) error {
	var failed *models.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &failed), failed.RetryAfter > patience:
		return backoff.Permanent(err)
	case failed.Kind != models.RateLimit && failed.Kind != models.Server:
		return backoff.Permanent(err)
	case failed.RetryAfter > 0:
		return errors.Join(err, &backoff.RetryAfterError{Duration: failed.RetryAfter})
	default:
		return err
	}
}
