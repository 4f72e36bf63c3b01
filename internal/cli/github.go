package cli

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/schedule"
)

// repository is owner/name; "" when GitHub is left out.
func (a *App) repository() string {
	if a.Local {
		return ""
	}
	return cmp.Or(a.Repository, a.Getenv("GITHUB_REPOSITORY"))
}

// repositoryPage is the address of the repository's page, "" when GitHub is left out.
func (a *App) repositoryPage() string {
	if a.repository() == "" {
		return ""
	}
	return strings.TrimRight(a.Server(), "/") + "/" + a.repository()
}

// client is the client of the repository on GitHub; nil when GitHub is left out,
// or when the environment names a repository and has no token for it, or one
// that GitHub could not have: then file programs go on without GitHub.
func (a *App) client() (*api.Client, error) {
	switch {
	case a.repository() == "", a.Token() == "" && a.Repository == "":
		return nil, nil
	case a.Token() == "":
		return nil, misuse.Errorf("--repo %s needs a token in GITHUB_TOKEN; use --local to go on without GitHub",
			a.Repository)
	}
	patience, err := a.duration("AUTOLOOP_GITHUB_PATIENCE")
	timeout, wrong := a.duration("AUTOLOOP_GITHUB_TIMEOUT")
	if err = cmp.Or(err, wrong); err != nil {
		return nil, err
	}
	client, err := api.New(api.Options{
		API: a.Getenv("GITHUB_API_URL"), Repository: a.repository(), Token: a.Token(),
		UserAgent: "autoloop/" + buildVersion(),
		Now:       a.Now, Sleep: a.Sleep, Patience: patience, Timeout: timeout,
	})
	if name, is := errors.AsType[*api.NameError](err); is && a.Repository == "" {
		fmt.Fprintf(a.Stderr, "warning: GITHUB_REPOSITORY: %v; going on without GitHub\n", name)
		return nil, nil
	}
	return client, misuse.New(err)
}

// repositoryStopped says why the repository's variable AUTOLOOP_PAUSED stops everything,
// "" when it does not. One that cannot be read stops nothing. It is not read where the
// environment has the variable already, empty or not, as a workflow passes it on, or
// where the token is a workflow's own, which may not read it.
func (a *App) repositoryStopped(ctx context.Context) string {
	passedOn := slices.ContainsFunc(a.Environ,
		func(entry string) bool { return strings.HasPrefix(entry, "AUTOLOOP_PAUSED=") })
	if a.GitHub == nil || passedOn || a.WorkflowToken() {
		return ""
	}
	value, found, err := a.GitHub.Variable(ctx, "AUTOLOOP_PAUSED")
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

// WorkflowToken says whether the token is the one that Actions gives to every
// job. Tokens of apps begin alike, so outside of Actions it is not recognised.
func (e Env) WorkflowToken() bool {
	return e.InActions() && strings.HasPrefix(e.Token(), "ghs_")
}

// gitLogin lets git reach the repository on GitHub with the token: for that
// server alone, and through the environment, so that it is in no address, no
// file and no argument list.
func (a *App) gitLogin() []git.Setting {
	if a.GitHub == nil {
		return nil
	}
	key := "http." + strings.TrimRight(a.Server(), "/") + "/.extraheader"
	login := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + a.Token()))
	return []git.Setting{
		{Key: key, Value: ""}, // what a checkout left there would be sent too
		{Key: key, Value: "Authorization: Basic " + login},
	}
}

// setIdentity sets who makes the commits, AUTOLOOP_GIT_NAME and AUTOLOOP_GIT_EMAIL,
// and how they are signed, AUTOLOOP_SIGN.
func (a *App) setIdentity() error {
	who := git.Identity{Name: a.Getenv("AUTOLOOP_GIT_NAME"), Email: a.Getenv("AUTOLOOP_GIT_EMAIL")}
	switch {
	case who == git.Identity{}:
	case who.Name == "" || who.Email == "":
		return misuse.Errorf("AUTOLOOP_GIT_NAME and AUTOLOOP_GIT_EMAIL belong together: set both or none")
	case strings.ContainsAny(who.Name+who.Email, "<>\r\n\x00"):
		return misuse.Errorf("AUTOLOOP_GIT_NAME and AUTOLOOP_GIT_EMAIL have no angle brackets and no line breaks")
	default:
		a.Repo.Identity = who
	}
	switch how := a.Getenv("AUTOLOOP_SIGN"); how {
	case "":
	case "ssh":
		a.Repo.Signing = git.SSH
	case "gpg":
		a.Repo.Signing = git.OpenPGP
	default:
		return misuse.Errorf("AUTOLOOP_SIGN=%q: use ssh or gpg, or leave it unset to sign nothing", how)
	}
	return nil
}

// signOff is the trailer that AUTOLOOP_SIGN_OFF=true asks for, by who makes the
// commits.
func (a *App) signOff() string {
	if !strings.EqualFold(strings.TrimSpace(a.Getenv("AUTOLOOP_SIGN_OFF")), "true") {
		return ""
	}
	return "Signed-off-by: " + a.Repo.Identity.Name + " <" + a.Repo.Identity.Email + ">\n"
}

// Server is the address of GitHub's pages.
func (e Env) Server() string { return cmp.Or(e.Getenv("GITHUB_SERVER_URL"), "https://github.com") }
