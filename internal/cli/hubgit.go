package cli

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/program"
)

// gitOptions lets git reach the repository on GitHub with the token: for that
// server alone, and through the environment, so that it is in no address, no
// file and no argument list.
func gitOptions(env Env, hub *api.Client) []git.Option {
	if hub == nil {
		return nil
	}
	key := "http." + strings.TrimRight(env.server(), "/") + "/.extraheader"
	login := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + env.token()))
	return []git.Option{git.WithSettings(
		git.Setting{Key: key, Value: ""}, // what a checkout left there would be sent too
		git.Setting{Key: key, Value: "Authorization: Basic " + login},
	)}
}

// identity is who makes the commits, AUTOLOOP_GIT_NAME and AUTOLOOP_GIT_EMAIL,
// and how they are signed, AUTOLOOP_SIGN.
func identity(env Env) ([]git.Option, error) {
	who, err := author(env)
	if err != nil {
		return nil, err
	}
	switch how := env.Getenv("AUTOLOOP_SIGN"); how {
	case "":
		return who, nil
	case "ssh":
		return append(who, git.WithSigning(git.SSH)), nil
	case "gpg":
		return append(who, git.WithSigning(git.OpenPGP)), nil
	default:
		return nil, Usagef("AUTOLOOP_SIGN=%q: use ssh or gpg, or leave it unset to sign nothing", how)
	}
}

func author(env Env) ([]git.Option, error) {
	who := git.Identity{Name: env.Getenv("AUTOLOOP_GIT_NAME"), Email: env.Getenv("AUTOLOOP_GIT_EMAIL")}
	switch {
	case who == git.Identity{}:
		return nil, nil
	case who.Name == "" || who.Email == "":
		return nil, Usagef("AUTOLOOP_GIT_NAME and AUTOLOOP_GIT_EMAIL belong together: set both or none")
	case strings.ContainsAny(who.Name+who.Email, "<>\r\n\x00"):
		return nil, Usagef("AUTOLOOP_GIT_NAME and AUTOLOOP_GIT_EMAIL have no angle brackets and no line breaks")
	}
	return []git.Option{git.WithIdentity(who)}, nil
}

// signOff is the trailer that AUTOLOOP_SIGN_OFF=true asks for, by who makes the
// commits.
func signOff(env Env, repo *git.Repo) string {
	if !strings.EqualFold(env.Getenv("AUTOLOOP_SIGN_OFF"), "true") {
		return ""
	}
	return "Signed-off-by: " + repo.Identity.Name + " <" + repo.Identity.Email + ">\n"
}

// server is the address of GitHub's pages.
func (e Env) server() string { return cmp.Or(e.Getenv("GITHUB_SERVER_URL"), "https://github.com") }

// gitRemote is the remote that branches and books are shared with: the one that
// is named, else in Actions and with a repository on GitHub origin; "" for none.
func (o iterateOptions) gitRemote(env Env) string {
	switch {
	case o.local:
		return ""
	case o.remote != "":
		return o.remote
	case env.InActions(), o.repository(env) != "" && env.token() != "":
		return "origin"
	default:
		return ""
	}
}

// issueProgram finds a program that is an issue, by the name that discovery
// gives it; nil when there is none. Who wrote it is looked at again.
func issueProgram(ctx context.Context, repo *git.Repo, hub *api.Client, source memory.Programs, o iterateOptions, name string) (*program.Program, *api.Issue, error) {
	files, err := source.Load(true)
	if err != nil {
		return nil, nil, err
	}
	states, _, err := (&memory.Memory{Repo: repo, Remote: cmp.Or(o.remote, "origin")}).States(ctx)
	if err != nil {
		return nil, nil, err
	}
	var warnings []string
	unread := false
	for _, label := range []string{sync.ProgramLabel, sync.CompletedLabel} {
		found, issues, err := discover(ctx, hub, label, files, states)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range found.Programs {
			if p.Name == name {
				at := slices.IndexFunc(issues, func(i api.Issue) bool { return i.Number == p.Issue })
				return p, &issues[at], nil
			}
		}
		for _, stranger := range found.Untrusted {
			if stranger.Name == name {
				return nil, nil, Usagef("issue #%d is not run: %s", stranger.Issue, stranger.Reason)
			}
		}
		warnings = append(warnings, found.Warnings...)
		unread = unread || issues == nil
	}
	switch {
	case unread:
		return nil, nil, fmt.Errorf("there is no program %q among the files; %s", name, warnings[0])
	case len(warnings) > 0:
		return nil, nil, Usagef("there is no program %q among the files; %s", name, warnings[0])
	}
	return nil, nil, nil
}
