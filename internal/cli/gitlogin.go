package cli

import (
	"cmp"
	"encoding/base64"
	"strings"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/misuse"
)

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
