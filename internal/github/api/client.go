// Package api talks to GitHub's REST API: issue programs, their issues and
// comments, pull requests, and what CI says of a commit. It returns plain
// values; what follows from them is decided elsewhere.
package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"
	"golang.org/x/oauth2"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
)

// DefaultAPI is the API of github.com, for Options without one.
const DefaultAPI = "https://api.github.com/"

// The bounds of Options that give none.
const (
	defaultTimeout  = 30 * time.Second
	defaultPatience = 2 * time.Minute
)

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
	// Now tells the time of day; nil is the system's.
	Now func() time.Time
	// Sleep waits; nil waits really. It returns early with the context's error.
	Sleep func(ctx context.Context, d time.Duration) error
	// Transport sends requests; nil is a transport of its own.
	Transport http.RoundTripper
}

// Client works on one repository. It may be used from several goroutines.
type Client struct {
	api         *gh.Client
	wire        *wire
	cached      *revalidator
	people      people
	owner, name string
	secrets     *strings.Replacer
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
	owner, name, _ := strings.Cut(o.Repository, "/")
	if !repositoryForm().MatchString(o.Repository) || len(o.Repository) > 200 || strings.Trim(name, ".") == "" {
		return nil, &NameError{o.Repository}
	}
	if strings.ContainsAny(o.Token, " \t\r\n") {
		return nil, errors.New("the GitHub token has spaces or line ends in it; set it again without them")
	}
	o.fill()
	c := &Client{owner: owner, name: name, secrets: strings.NewReplacer()}
	c.wire = &wire{next: o.Transport, timeout: o.Timeout}
	if len(o.Token) >= 4 {
		c.secrets = strings.NewReplacer(o.Token, "***")
	}
	var transport http.RoundTripper
	transport, c.cached = c.wire.chain(o)
	c.api = gh.NewClient(&http.Client{
		Transport: transport,
		CheckRedirect: func(request *http.Request, via []*http.Request) error {
			if len(via) >= 5 || request.URL.Host != base.Host {
				return http.ErrUseLastResponse
			}
			return nil
		},
	})
	c.api.BaseURL = base
	c.api.UserAgent = o.UserAgent
	return c, nil
}

func (o *Options) fill() {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = Sleep
	}
	o.UserAgent = cmp.Or(o.UserAgent, "autoloop")
	if o.Transport == nil {
		o.Transport = &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true,
			DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext, TLSHandshakeTimeout: 10 * time.Second,
			MaxIdleConnsPerHost: 4, IdleConnTimeout: 90 * time.Second,
		}
	}
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
func (c *Client) Repository() string { return c.owner + "/" + c.name }

// Requests is how many requests were sent, repeats and revalidations too.
func (c *Client) Requests() int { return int(c.wire.sent.Load()) }

// Changes is how many requests were sent that are to change something.
func (c *Client) Changes() int { return int(c.wire.changes.Load()) }

// chain puts the decorators around the transport, the outermost first: an API that never
// answers is given up, passing failures are tried again, rate limits are waited for, known
// answers are revalidated, and the token is added.
func (w *wire) chain(o Options) (http.RoundTripper, *revalidator) {
	var inner http.RoundTripper = w
	if o.Token != "" {
		inner = &oauth2.Transport{Source: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: o.Token}), Base: w}
	}
	cached := &revalidator{next: inner}
	limited := &limiter{next: cached, now: o.Now}
	retried := &retrier{next: limited, sleep: o.Sleep, now: o.Now, patience: o.Patience}
	return &reach{next: retried, wire: w}, cached
}

// get reads one object of the repository that go-github does not know, or knows
// less of.
func (c *Client) get(ctx context.Context, path string, into any) (*gh.Response, error) {
	request, err := c.api.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/%s", c.owner, c.name, path), nil)
	if err != nil {
		return nil, err
	}
	return c.api.Do(ctx, request, into)
}

// page reads one page of such a list.
func (c *Client) page(ctx context.Context, path string, page int, into any) (*gh.Response, error) {
	return c.get(ctx, fmt.Sprintf("%s?per_page=%d&page=%d", path, perPage, page), into)
}
