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
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/plain"
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

// maxMessage bounds the words of an error, in characters.
const maxMessage = 300

// protocol is what differs between the APIs.
type protocol struct {
	path   string // of the method, below the endpoint's address
	login  func(http.Header, string)
	render func(*call) any
	read   func([]byte) (models.Response, error)
}

// call is a request on its way to an endpoint.
type call struct {
	protocol
	models.Request
	key           string
	host, address string
	// What this endpoint turned out to want.
	completionTokens, noJSON bool
}

func newCall(endpoint models.Endpoint, request models.Request) (*call, *models.Error) {
	request.Model = cmp.Or(request.Model, endpoint.Model)
	request.MaxTokens = cmp.Or(request.MaxTokens, endpoint.OutputTokens)
	c := &call{Request: request, key: endpoint.Key}
	switch endpoint.API {
	case models.OpenAI:
		c.protocol = openAI
	case models.Anthropic:
		c.protocol = anthropic
	default:
		return nil, c.fail(models.Invalid, 0,
			"an endpoint speaks "+string(models.OpenAI)+" or "+string(models.Anthropic)+", not "+string(endpoint.API))
	}
	if c.Model == "" {
		return nil, c.fail(models.Invalid, 0, "no model is named: give --model, or `model:` in the program file")
	}
	address, err := base(endpoint.URL)
	if err != nil {
		return nil, c.fail(models.Invalid, 0, err.Error())
	}
	c.host, c.address = address.Host, address.JoinPath(c.path).String()
	return c, nil
}

// base reads an endpoint's address. A key in clear text goes over no network.
func base(text string) (*url.URL, error) {
	address, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil || address.Host == "":
		return nil, errors.New("the endpoint is no address such as https://models.github.ai/inference")
	case address.User != nil || address.RawQuery != "" || address.Fragment != "":
		return nil, errors.New("the endpoint must be a plain address, without a user, a query or a fragment")
	case address.Scheme == "https", address.Scheme == "http" && (address.Hostname() == "localhost" ||
		net.ParseIP(address.Hostname()).IsLoopback()):
		return address, nil
	default:
		return nil, errors.New("the endpoint " + address.Host +
			" must be reached by https; http is for this machine alone")
	}
}

// adapt changes the request to what the endpoint said that it wants, and tells
// whether anything is left to change.
func (c *call) adapt(failed *models.Error) bool {
	if failed.Kind != models.Invalid || failed.Status != http.StatusBadRequest {
		return false
	}
	for word, wanted := range map[string]*bool{
		"max_completion_tokens": &c.completionTokens, "response_format": &c.noJSON,
	} {
		if strings.Contains(failed.Message, word) && !*wanted {
			*wanted = true
			return true
		}
	}
	return false
}

// fail makes an error whose words are one bounded line without the key.
func (c *call) fail(kind models.ErrorKind, status int, text string) *models.Error {
	if len(c.key) > 3 {
		text = strings.ReplaceAll(text, c.key, "***")
	}
	return &models.Error{Kind: kind, Status: status, Message: plain.Short(text, maxMessage)}
}

// refused turns an answer that is no success into an error. Both APIs have one error object.
func (c *call) refused(got *http.Response, body []byte) *models.Error {
	var said struct {
		Error struct {
			Type    string
			Code    any
			Message string
		}
		Message string
	}
	_ = json.Unmarshal(body, &said)
	code, _ := said.Error.Code.(string)
	words := cmp.Or(said.Error.Message, said.Message, strings.TrimSpace(string(body[:min(len(body), 2000)])),
		http.StatusText(got.StatusCode))
	kind := kindOf(got.StatusCode, strings.ToLower(code+" "+said.Error.Type), strings.ToLower(words))
	switch {
	case kind == models.Authentication && c.host == "models.github.ai":
		words = "the token may not use GitHub Models (give the workflow `permissions: models: read`): " + words
	case kind == models.Authentication:
		words = c.host + " does not accept the key: " + words
	}
	failed := c.fail(kind, got.StatusCode, words)
	if kind == models.RateLimit || kind == models.Server {
		failed.RetryAfter = retryAfter(got.Header)
	}
	return failed
}

// kindOf sorts a status, with what the server calls it and says of it.
func kindOf(status int, code, words string) models.ErrorKind {
	has := func(text string, parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
	}
	switch {
	case status == http.StatusPaymentRequired, has(code, "insufficient_quota", "billing"),
		has(words, "credit balance is too low"):
		return models.Budget
	case status == http.StatusRequestEntityTooLarge, has(code, "context_length_exceeded", "tokens_limit_reached"),
		status == http.StatusBadRequest && has(words, "prompt is too long", "maximum context length"):
		return models.TooLarge
	case status == http.StatusTooManyRequests, status == http.StatusForbidden && has(words, "rate limit"):
		return models.RateLimit
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return models.Authentication
	case status == http.StatusRequestTimeout, status >= 500:
		return models.Server
	default:
		return models.Invalid
	}
}

// retryAfter is how long a server asks to wait; 0 when it does not say in seconds.
func retryAfter(header http.Header) time.Duration {
	const longest = 366 * 24 * time.Hour
	seconds, err := strconv.ParseFloat(strings.TrimSpace(header.Get("Retry-After")), 64)
	if err != nil || !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, longest.Seconds()) * float64(time.Second))
}
