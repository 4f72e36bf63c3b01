package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	gh "github.com/google/go-github/v62/github"
)

const (
	// maxAnswer bounds one answer in bytes. A page of 100 issues with the longest
	// bodies that GitHub allows has 26 MB.
	maxAnswer = 32 << 20
	// maxKnown is how many answers are kept before all are forgotten.
	maxKnown = 128
	// maxTries is how often a request is sent that fails in passing.
	maxTries = 4
	// The bounds of a list: entries on a page, and pages.
	perPage  = 100
	maxPages = 500
)

// known is an answer that can be revalidated: it is asked for with its ETag, always,
// whatever it said about its age. An answer without change costs no rate limit, and nothing
// stale is ever believed.
type known struct {
	etag, link string
	text       []byte
}

// do sends a request about the repository, and reads the answer into a value, which nil
// leaves out. Op says what for, in an error. What fails in passing is sent again: after a
// rate limit every request, since nothing was done; after a 5xx answer or a broken connection
// only those that may be repeated.
func (c *Client) do(ctx context.Context, op, method, path string, body, into any) (http.Header, error) {
	if c.unreachable != nil {
		return nil, c.fail(op, c.unreachable)
	}
	delays := backoff.NewExponentialBackOff()
	delays.InitialInterval, delays.Multiplier = time.Second, 2
	left := c.options.Patience
	for try := 1; ; try++ {
		header, err := c.send(ctx, method, path, body, into)
		if err == nil {
			return header, nil
		}
		wait := delays.NextBackOff()
		refused, answered := errors.AsType[*gh.ErrorResponse](err)
		limit, limited := errors.AsType[*LimitError](err)
		switch {
		case limited:
			wait = limit.Wait + time.Second
		case answered && refused.Response.StatusCode < http.StatusInternalServerError,
			// What we send with PATCH sets values, so it may be sent twice.
			method == http.MethodPost && ctx.Value(addKey{}) == nil:
			wait = c.options.Patience + 1
		}
		if wait > left || try == maxTries || ctx.Err() != nil {
			if !c.answered && ctx.Err() == nil {
				c.unreachable = &UnreachableError{host: c.requests.BaseURL.Host, err: err}
				err = c.unreachable
			}
			return nil, c.fail(op, err)
		}
		left -= wait
		if err := c.options.Sleep(ctx, wait); err != nil {
			return nil, c.fail(op, err)
		}
	}
}

// send sends a request once.
func (c *Client) send(ctx context.Context, method, path string, body, into any) (http.Header, error) {
	if c.limit.Wait = c.limit.Until.Sub(c.options.Now()); c.limit.Wait > 0 {
		return nil, new(c.limit)
	}
	url := strings.TrimSuffix("repos/"+c.options.Repository+"/"+path, "/")
	request, err := c.requests.NewRequest(method, url, body)
	if err != nil {
		return nil, err
	}
	before, is := c.known[path]
	if is = is && method == http.MethodGet; is {
		request.Header.Set("If-None-Match", before.etag)
	}
	c.sent++
	within, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	text, header, err := c.receive(request.WithContext(within), before)
	if err != nil {
		if within.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("no answer within %s", c.options.Timeout)
		}
		return nil, err
	}
	if into == nil {
		return header, nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, err
	}
	if etag := header.Get("Etag"); method == http.MethodGet && etag != "" {
		if len(c.known) >= maxKnown {
			clear(c.known)
		}
		c.known[path] = known{etag, header.Get("Link"), text}
	}
	return header, nil
}

// receive sends a request and takes its answer, or what was known before when that is as it was.
func (c *Client) receive(request *http.Request, before known) ([]byte, http.Header, error) {
	answer, err := c.http.Do(request)
	c.answered = c.answered || err == nil || errors.Is(err, io.EOF) // also by a server that hangs up
	if err != nil {
		return nil, nil, err
	}
	answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswer)
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode == http.StatusNotModified {
		if answer.Header.Get("Link") == "" { // a list's links to further pages change without its ETag
			answer.Header.Set("Link", before.link)
		}
		return before.text, answer.Header, nil
	}
	if err := gh.CheckResponse(answer); err != nil {
		return nil, nil, c.limited(answer, err)
	}
	text, err := io.ReadAll(answer.Body)
	return text, answer.Header, err
}

// limited is the rate limit behind a refusal, or the refusal.
func (c *Client) limited(answer *http.Response, refused error) error {
	now, after := c.options.Now(), answer.Header.Get("Retry-After")
	secondary := after != "" || errors.As(refused, new(*gh.AbuseRateLimitError))
	used := answer.Header.Get("X-Ratelimit-Remaining") == "0"
	many := answer.StatusCode == http.StatusTooManyRequests
	if !many && (answer.StatusCode != http.StatusForbidden || !used && !secondary) {
		return refused
	}
	limit := LimitError{Secondary: secondary || !used, Until: now.Add(time.Minute)} // when it is not told
	if seconds, err := strconv.Atoi(after); err == nil {
		limit.Until = now.Add(time.Duration(min(seconds, 24*60*60)) * time.Second)
	} else if reset, err := strconv.ParseInt(answer.Header.Get("X-Ratelimit-Reset"), 10, 64); err == nil && used {
		limit.Until = time.Unix(reset, 0).UTC()
	}
	limit.Wait = max(limit.Until.Sub(now), 0)
	c.limit = limit
	return &limit
}

// addKey marks the requests of add.
type addKey struct{}

// add sends what has no further effect when it is sent twice, such as adding a label.
func (c *Client) add(ctx context.Context, op, path string, body any) error {
	_, err := c.do(context.WithValue(ctx, addKey{}, true), op, http.MethodPost, path, body, nil)
	return err
}

// read reads one value.
func read[T any](ctx context.Context, c *Client, op, path string) (found T, err error) {
	_, err = c.do(ctx, op, http.MethodGet, path, nil, &found)
	return found, err
}

// entries are those of a page: a list, or the one list that an object has.
type entries[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (e *entries[T]) UnmarshalJSON(text []byte) error {
	object := map[string]json.RawMessage{}
	if json.Unmarshal(text, &object) == nil {
		for _, value := range object {
			if bytes.HasPrefix(value, []byte("[")) {
				text = value
			}
		}
	}
	return json.Unmarshal(text, (*[]T)(e))
}

var errTooMany = errors.New("the list has more entries than are read; something in this repository is out of bounds")

// list reads a whole list.
func list[T any](ctx context.Context, c *Client, op, path string, query ...string) ([]T, error) {
	var all []T
	for page := 1; page <= maxPages; page++ {
		var found entries[T]
		of := append(query, fmt.Sprintf("per_page=%d&page=%d", perPage, page))
		header, err := c.do(ctx, op, http.MethodGet, path+"?"+strings.Join(of, "&"), nil, &found)
		if err != nil {
			return nil, err
		}
		if all = append(all, found...); !strings.Contains(header.Get("Link"), `rel="next"`) {
			return all, nil
		}
	}
	return nil, c.fail(op, errTooMany)
}
