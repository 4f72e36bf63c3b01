package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/schedule"
)

// GitHub says which repository on GitHub is used, if any.
type GitHub struct {
	// Name is owner/name as a flag has it; "" leaves it to the environment.
	Name string
	// Local leaves out remote and GitHub, whatever the environment says.
	Local bool
}

// Repository is owner/name; "" when GitHub is left out.
func (o GitHub) Repository(env Env) string {
	if o.Local {
		return ""
	}
	return cmp.Or(o.Name, env.Getenv("GITHUB_REPOSITORY"))
}

// Page is the address of the repository's page, "" when GitHub is left out.
func (o GitHub) Page(env Env) string {
	name := o.Repository(env)
	if name == "" {
		return ""
	}
	return strings.TrimRight(env.Server(), "/") + "/" + name
}

// Client is the client of the repository on GitHub; nil when GitHub is left out,
// or when the environment names a repository and has no token for it, or one
// that GitHub could not have: then file programs go on without GitHub.
func (o GitHub) Client(env Env) (*api.Client, error) {
	repository, token := o.Repository(env), env.Token()
	switch {
	case repository == "":
		return nil, nil
	case token == "" && o.Name != "":
		return nil, misuse.Errorf("--repo %s needs a token in GITHUB_TOKEN; use --local to go on without GitHub",
			o.Name)
	case token == "":
		return nil, nil
	}
	patience, err := env.duration("AUTOLOOP_GITHUB_PATIENCE")
	if err != nil {
		return nil, err
	}
	timeout, err := env.duration("AUTOLOOP_GITHUB_TIMEOUT")
	if err != nil {
		return nil, err
	}
	client, err := api.New(api.Options{
		API: env.Getenv("GITHUB_API_URL"), Repository: repository, Token: token,
		UserAgent: "autoloop/" + buildVersion(),
		Now:       env.Now, Sleep: env.Sleep, Patience: patience, Timeout: timeout,
	})
	if name, is := errors.AsType[*api.NameError](err); is && o.Name == "" {
		fmt.Fprintf(env.Stderr, "warning: GITHUB_REPOSITORY: %v; going on without GitHub\n", name)
		return nil, nil
	}
	if err != nil {
		return nil, misuse.New(err)
	}
	return client, nil
}

// repositoryStopped says why the repository's variable AUTOLOOP_PAUSED stops
// everything, "" when it does not. One that cannot be read stops nothing.
func repositoryStopped(ctx context.Context, client *api.Client) string {
	if client == nil {
		return ""
	}
	value, found, err := client.Variable(ctx, "AUTOLOOP_PAUSED")
	if err != nil || !found {
		return ""
	}
	return schedule.Stopped(value)
}

// Token is the one for GitHub, or "".
func (e Env) Token() string { return cmp.Or(e.Getenv("GITHUB_TOKEN"), e.Getenv("GH_TOKEN")) }

// duration reads a time from the environment: AUTOLOOP_GITHUB_PATIENCE is how
// long one call waits for GitHub to answer again, AUTOLOOP_GITHUB_TIMEOUT how
// long one request may take. It is 0 when the variable is not set, and more
// than that when it is.
func (e Env) duration(name string) (time.Duration, error) {
	text := e.Getenv(name)
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, misuse.Errorf("%s=%q is no time such as 2m", name, text)
	}
	return max(d, time.Nanosecond), nil
}

// Sleeper waits, as the environment says.
func (e Env) Sleeper() func(context.Context, time.Duration) error {
	if e.Sleep != nil {
		return e.Sleep
	}
	return api.Sleep
}

// WorkflowToken says whether the token is the one that Actions gives to every
// job. Tokens of apps begin alike, so outside of Actions it is not recognised.
func (e Env) WorkflowToken() bool {
	return e.InActions() && strings.HasPrefix(e.Token(), "ghs_")
}
