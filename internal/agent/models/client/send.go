package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/org/autoloop/internal/agent/models"
)

// send makes one attempt.
func (c *Client) send(ctx context.Context, call *call) (models.Response, error) {
	bounded, cancel := context.WithTimeout(ctx, cmp.Or(c.PerAttempt, perAttempt))
	defer cancel()
	start := time.Now()
	got, err := c.post(bounded, call)
	switch {
	case err != nil:
		return models.Response{}, call.unanswered(ctx, bounded, err, time.Since(start))
	case got.status/100 != 2:
		return models.Response{}, call.refused(got)
	case len(got.body) > maxAnswer:
		return models.Response{}, call.fail(models.Malformed, got.status,
			fmt.Sprintf("the answer is larger than %d MB", maxAnswer>>20))
	}
	response, err := call.read(got.body)
	if err != nil {
		return models.Response{}, call.fail(models.Malformed, got.status,
			"the answer cannot be read: "+err.Error()+"; is the address that of the API?")
	}
	return response, nil
}

// answer is what came back, whatever it says.
type answer struct {
	status int
	header http.Header
	body   []byte // one byte more than is allowed when there is more
}

// post sends the request and reads a bounded body.
func (c *Client) post(ctx context.Context, call *call) (answer, error) {
	body, err := call.body()
	if err != nil {
		return answer{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, call.address, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	call.headers(request.Header)
	response, err := c.client().Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	return answer{response.StatusCode, response.Header, text}, err
}

// client never follows a redirect: the key would go to another place.
func (c *Client) client() *http.Client {
	client := http.Client{}
	if c.HTTP != nil {
		client = *c.HTTP
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// unanswered says why no complete answer came.
func (c *call) unanswered(whole, attempt context.Context, err error, after time.Duration) error {
	var dial *net.OpError
	switch {
	case errors.Is(whole.Err(), context.Canceled):
		return context.Cause(whole)
	case attempt.Err() != nil:
		return c.fail(models.Timeout, 0,
			fmt.Sprintf("%s gave no answer within %s", c.host, after.Round(time.Second/10)))
	case errors.As(err, &dial) && dial.Op == "dial":
		return c.fail(models.Server, 0, fmt.Sprintf("%s cannot be reached: %v", c.host, dial.Err))
	default:
		return c.fail(models.Malformed, 0, fmt.Sprintf("the connection to %s broke: %v", c.host, err))
	}
}
