package cli

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/org/autoloop/internal/github/api"
)

// hubOptions say which repository on GitHub is used, if any.
type hubOptions struct {
	repo  string
	local bool
}

// hubFlags adds the flags of these options.
func hubFlags(flags *pflag.FlagSet, o *hubOptions) {
	flags.StringVar(&o.repo, "repo", "", "the repository on GitHub, as owner/name (default: GITHUB_REPOSITORY)")
	flags.BoolVar(&o.local, "local", false, "use no remote and no GitHub, whatever the environment says")
}

// repository is owner/name; "" when GitHub is left out.
func (o hubOptions) repository(env Env) string {
	if o.local {
		return ""
	}
	return cmp.Or(o.repo, env.Getenv("GITHUB_REPOSITORY"))
}

// hub is the client of the repository on GitHub; nil when GitHub is left out,
// or when the environment names a repository and has no token for it.
func (o hubOptions) hub(env Env) (*api.Client, error) {
	repository, token := o.repository(env), env.token()
	switch {
	case repository == "":
		return nil, nil
	case token == "" && o.repo != "":
		return nil, Usagef("--repo %s needs a token in GITHUB_TOKEN; use --local to go on without GitHub", o.repo)
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
		API: env.Getenv("GITHUB_API_URL"), Repository: repository, Token: token, UserAgent: "autoloop/" + Version(), CacheDir: env.cacheDir(),
		Now: env.Now, Sleep: env.Sleep, Patience: patience, Timeout: timeout,
	})
	if err != nil {
		return nil, &UsageError{err}
	}
	return client, nil
}

// repositoryPaused says whether the repository's variable AUTOLOOP_PAUSED stops
// everything. One that cannot be read stops nothing.
func repositoryPaused(ctx context.Context, hub *api.Client) bool {
	if hub == nil {
		return false
	}
	value, found, err := hub.Variable(ctx, "AUTOLOOP_PAUSED")
	return err == nil && found && saysTrue(value)
}

func saysTrue(text string) bool { return strings.EqualFold(strings.TrimSpace(text), "true") }

// token is the one for GitHub; "" when there is none.
func (e Env) token() string { return cmp.Or(e.Getenv("GITHUB_TOKEN"), e.Getenv("GH_TOKEN")) }

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
		return 0, Usagef("%s=%q is no time such as 2m", name, text)
	}
	return max(d, time.Nanosecond), nil
}

// sleeper waits, as the environment says.
func (e Env) sleeper() func(context.Context, time.Duration) error {
	if e.Sleep != nil {
		return e.Sleep
	}
	return api.Sleep
}

// cacheDir is this user's own directory for answers of GitHub; "" for none. A
// directory that others can write to would let them answer in its place.
func (e Env) cacheDir() string {
	if dir := e.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "autoloop", "github")
	}
	if home := e.Getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".cache", "autoloop", "github")
	}
	return ""
}
