// Package api talks to GitHub's REST API: issue programs, their issues and
// comments, pull requests, and what CI says of a commit. It returns plain
// values; what follows from them is decided elsewhere.
package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	gh "github.com/google/go-github/v62/github"
	"golang.org/x/oauth2"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
)

// DefaultAPI is the API of github.com, for Options without one.
const DefaultAPI = "https://api.github.com/"

// Options say where the API is and how to talk to it.
type Options struct {
	// API is the base of the REST API, GITHUB_API_URL in Actions, with or
	// without a slash at the end. On GitHub Enterprise Server it ends in
	// /api/v3. "" is github.com's.
	API string
	// Repository is owner/name.
	Repository string
	// Token is sent to the API's host alone; "" asks without one.
	Token string
	// UserAgent names the program, such as autoloop/1.2.3.
	UserAgent string
	// Timeout bounds one request with its answer; 0 is 30 seconds.
	Timeout time.Duration
	// Patience bounds how long one call waits for rate limits and between
	// attempts, all waits together; 0 is two minutes.
	Patience time.Duration
	// Now tells the time of day.
	Now func() time.Time
	// Sleep waits. It returns early with the context's error.
	Sleep func(ctx context.Context, d time.Duration) error
	// Transport sends requests; nil is net/http's.
	Transport http.RoundTripper
}

// Client works on one repository, for one goroutine.
type Client struct {
	options  Options
	requests *gh.Client // makes them
	http     http.Client
	secrets  *strings.Replacer

	sent        int
	answered    bool // the API was reached
	unreachable *UnreachableError
	limit       LimitError       // that holds, or held
	known       map[string]known // answers by their paths
	write       map[string]bool  // of whom it was found out whether they may push
}

// repositoryForm is owner/name; owners of Enterprise Managed Users have an
// underscore before the short name of their company.
var repositoryForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]+$`)

// NameError says that GitHub could not have a repository of this name.
type NameError struct{ Name string }

// Error says what a name looks like.
func (e *NameError) Error() string {
	return fmt.Sprintf("%q is no repository; give owner/name, as GITHUB_REPOSITORY does", plain.Short(e.Name, 80))
}

// New checks the options and makes a client. It sends nothing.
func New(o Options) (*Client, error) {
	base, err := apiURL(o.API)
	if err != nil {
		return nil, err
	}
	_, name, _ := strings.Cut(o.Repository, "/")
	if !repositoryForm().MatchString(o.Repository) || len(o.Repository) > 200 || strings.Trim(name, ".") == "" {
		return nil, &NameError{o.Repository}
	}
	if strings.ContainsAny(o.Token, " \t\r\n") {
		return nil, errors.New("the GitHub token has spaces or line ends in it; set it again without them")
	}
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.Patience = cmp.Or(o.Patience, 2*time.Minute)
	c := &Client{
		options: o, requests: gh.NewClient(nil), secrets: strings.NewReplacer(),
		known: map[string]known{}, write: map[string]bool{},
	}
	c.requests.BaseURL, c.requests.UserAgent = base, o.UserAgent
	c.http = http.Client{
		Transport: o.Transport,
		CheckRedirect: func(request *http.Request, via []*http.Request) error {
			if len(via) >= 5 || request.URL.Host != base.Host {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
	if o.Token != "" {
		c.secrets = strings.NewReplacer(o.Token, "***")
		source := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: o.Token})
		c.http.Transport = &oauth2.Transport{Source: source, Base: o.Transport}
	}
	return c, nil
}

// Sleep waits, and returns early with the context's error.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// apiURL reads the base of the API. go-github wants a slash at its end, and
// would drop the last part of the path without it.
func apiURL(text string) (*url.URL, error) {
	text = cmp.Or(text, DefaultAPI)
	base, err := url.Parse(strings.TrimRight(strings.TrimSpace(text), "/") + "/")
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, fmt.Errorf("the API address %q is no URL such as %s; see GITHUB_API_URL",
			plain.Short(text, 80), DefaultAPI)
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("the API address has a user, a query or a fragment in it; give its scheme, host and " +
			"path alone, and the token apart")
	}
	return base, nil
}

// Repository is owner/name.
func (c *Client) Repository() string { return c.options.Repository }

// Requests is how many requests were sent, repeats and revalidations too.
func (c *Client) Requests() int { return c.sent }

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
