// Package client asks language models over HTTP: endpoints that speak OpenAI's
// chat completions (GitHub Models among them) and Anthropic's messages. It
// returns exact usage and typed errors, and sends a key to its own host alone.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
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
}

// Complete asks a model and returns its answer. It tries again, with growing
// pauses, only when the server did not do the work: after 429 when the time to
// wait is short, after a 5xx, and when no connection came about. The error is a
// *models.Error, or the cause when ctx was cancelled.
func (c *Client) Complete(ctx context.Context, endpoint models.Endpoint,
	request models.Request,
) (models.Response, error) {
	call, failed := newCall(endpoint, request)
	if failed != nil {
		return models.Response{}, failed
	}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.Multiplier, pauses.MaxInterval = cmp.Or(c.Pause, time.Second), 2, patience
	response, _ := backoff.Retry(ctx, func() (response models.Response, _ error) {
		response, failed = c.send(ctx, call)
		for failed != nil && call.adapt(failed) {
			response, failed = c.send(ctx, call)
		}
		return response, pace(failed)
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(attempts), backoff.WithMaxElapsedTime(0))
	switch {
	case failed == nil:
		return response, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return models.Response{}, context.Cause(ctx)
	}
	return models.Response{}, failed
}

// pace says whether, and when, an attempt may be followed by another.
func pace(failed *models.Error) error {
	switch {
	case failed == nil:
		return nil
	case failed.RetryAfter > patience, failed.Kind != models.RateLimit && failed.Kind != models.Server:
		return backoff.Permanent(failed)
	case failed.RetryAfter > 0:
		return &backoff.RetryAfterError{Duration: failed.RetryAfter}
	default:
		return failed
	}
}

// send makes one attempt. It follows no redirect: the key would go to another place.
func (c *Client) send(ctx context.Context, call *call) (said models.Response, failed *models.Error) {
	bounded, cancel := context.WithTimeout(ctx, cmp.Or(c.PerAttempt, perAttempt))
	defer cancel()
	client := http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	start := time.Now()
	var response *http.Response
	var text []byte
	body, _ := json.Marshal(call.render(call)) // words and numbers always encode
	request, err := http.NewRequestWithContext(bounded, http.MethodPost, call.address, bytes.NewReader(body))
	if err == nil {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json")
		request.Header.Set("User-Agent", "autoloop")
		call.login(request.Header, call.key)
		response, err = client.Do(request)
	}
	if err == nil {
		defer func() { _ = response.Body.Close() }()
		text, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	}
	switch dial := (*net.OpError)(nil); {
	case err == nil && response.StatusCode/100 != 2:
		return said, call.refused(response, text)
	case err == nil && len(text) > maxAnswer:
		return said, call.fail(models.Malformed, response.StatusCode,
			fmt.Sprintf("the answer is larger than %d MB", maxAnswer>>20))
	case err == nil:
		if said, err = call.read(text); err != nil {
			failed = call.fail(models.Malformed, response.StatusCode,
				"the answer cannot be read: "+err.Error()+"; is the address that of the API?")
		}
	case bounded.Err() != nil:
		failed = call.fail(models.Timeout, 0,
			fmt.Sprintf("%s gave no answer within %s", call.host, time.Since(start).Round(time.Second/10)))
	case errors.As(err, &dial) && dial.Op == "dial":
		failed = call.fail(models.Server, 0, fmt.Sprintf("%s cannot be reached: %v", call.host, dial.Err))
	default:
		failed = call.fail(models.Malformed, 0, fmt.Sprintf("the connection to %s broke: %v", call.host, err))
	}
	return said, failed
}
