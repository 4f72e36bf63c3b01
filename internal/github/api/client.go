// Package api talks to GitHub's REST API: issue programs, their issues and
// comments, pull requests, and what CI says of a commit. It returns plain
// values; what follows from them is decided elsewhere.
package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = Sleep
	}
	c := &Client{
		options: o, requests: gh.NewClient(nil), secrets: strings.NewReplacer(),
		known: map[string]known{}, write: map[string]bool{},
	}
	c.requests.BaseURL, c.requests.UserAgent = base, cmp.Or(o.UserAgent, "autoloop")
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
