// Package setup finds out whether a repository, a token and a machine can do
// what Autoloop asks of them, and says how to fix what is missing.
package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/render"
)

// Level says how bad a finding is.
type Level string

// The levels.
const (
	OK      Level = "ok"
	Absent  Level = "absent" // what is not here, and need not be
	Warning Level = "warning"
	Problem Level = "problem"
)

// Finding is one thing that was looked at.
type Finding struct {
	Level   Level  `json:"level"`
	Subject string `json:"subject"`
	Message string `json:"message"`
	// Fix is what to do; "" when nothing is to be done.
	Fix string `json:"fix,omitempty"`
}

// Findings are collected while things are looked at.
type Findings []Finding

// OK adds what is as it should be.
func (f *Findings) OK(subject, format string, args ...any) {
	*f = append(*f, Finding{Level: OK, Subject: subject, Message: fmt.Sprintf(format, args...)})
}

// Warn adds what may be as it should not be.
func (f *Findings) Warn(subject, message, fix string) {
	*f = append(*f, Finding{Level: Warning, Subject: subject, Message: message, Fix: fix})
}

// Problem adds what has to be fixed.
func (f *Findings) Problem(subject, message, fix string) {
	*f = append(*f, Finding{Level: Problem, Subject: subject, Message: message, Fix: fix})
}

// Hub looks at the repository on GitHub with the token that iterations have, which may be
// the workflow's own; what cannot be read is a finding too.
func (f *Findings) Hub(ctx context.Context, client *api.Client, workflowToken bool) {
	about, err := client.About(ctx)
	if err != nil {
		f.Problem("repository", err.Error(),
			"fix the token or the name of the repository; the rest was not looked at")
		return
	}
	f.OK("repository", "%s, default branch %s", client.Repository(), about.DefaultBranch)
	if about.Archived {
		f.Problem("repository", "it is archived: nothing can be written", "unarchive it")
	}
	if about.Fork {
		f.Warn("repository",
			"it is a fork: scheduled workflows are off in forks until somebody turns them on, and issues may be off",
			"turn them on under Actions and Settings, or run it in the original")
	}
	if !about.HasIssues {
		f.Problem("issues", "the repository has no issues, so programs cannot be shown",
			"turn issues on under Settings, General, Features")
	}
	f.token(about)
	f.pulls(ctx, client, workflowToken)
	f.branch(ctx, client, about.DefaultBranch)
	if workflowToken {
		f.Warn("pushes", "pushes and pull requests of the workflow's own token start no CI",
			"name the workflow to start in `ci-workflow`, or give the token of an app or a person")
	} else {
		f.OK("pushes", "pushes of this token start CI")
	}
	f.workflows(ctx, client)
}

// token says whether the token may push, and what a classic one lacks.
func (f *Findings) token(about api.Repository) {
	scopes := about.Scopes
	list := strings.Split(scopes, ", ")
	switch {
	case scopes != "" && !slices.Contains(list, "repo") &&
		(about.Private || !slices.Contains(list, "public_repo")):
		f.Problem("token", "it is a classic token with the scopes "+scopes,
			"give it the scope repo, and workflow when a target has workflow files")
	case scopes != "":
		f.OK("token", "a classic token with the scopes %s", scopes)
	case !about.Permissions.Push:
		f.Problem("token", "it may not push",
			"give the job `permissions: contents: write, issues: write, pull-requests: write, checks: read, "+
				"statuses: read`, or the token these rights")
	default:
		f.OK("token", "it may push")
	}
}

func (f *Findings) pulls(ctx context.Context, client *api.Client, workflowToken bool) {
	const subject = "pull requests"
	allowed, known, err := client.ActionsMayOpenPulls(ctx)
	switch {
	case err != nil:
		f.Warn(subject, err.Error(), "")
	case !known:
		f.Warn(subject, "whether Actions may open pull requests is not for this token to see",
			"look under Settings, Actions, General, Workflow permissions")
	case allowed:
		f.OK(subject, "Actions may open them")
	case workflowToken:
		f.Problem(subject, "the repository does not let Actions open pull requests",
			"allow it under Settings, Actions, General, Workflow permissions, or give the token of an app or a person")
	default:
		f.OK(subject, "Actions may not open them, and this token is not the workflow's")
	}
}

// branch looks at the default branch: protected or not, and what CI says of it.
func (f *Findings) branch(ctx context.Context, client *api.Client, name string) {
	const subject = "default branch"
	branch, err := client.Branch(ctx, name)
	switch {
	case api.NotFound(err):
		f.Problem(subject, name+" has no commit", "push one")
		return
	case err != nil:
		f.Warn(subject, err.Error(), "")
		return
	case branch.Protected:
		f.OK(subject, "%s is protected; Autoloop never pushes to it, and its pull requests keep your rules", name)
	default:
		f.Warn(subject, name+" is not protected", "protect it, so that only reviewed work gets in")
	}
	checks, err := client.Checks(ctx, branch.Commit.SHA)
	if err != nil {
		f.Warn("CI", err.Error(), "give the token checks: read and statuses: read")
		return
	}
	read := lists.Map(checks, func(c api.Check) ci.Check { return c.Check })
	verdict := ci.Judge(ci.Input{Head: ci.Reading{Checks: read}})
	switch {
	case verdict.Seen == 0:
		f.Warn("CI", "no check ran on the head of "+name+": `ci-gate: auto` waits for CI where a workflow runs on "+
			"push or pull_request", "set `ci-gate: required` in programs whose pull requests have checks")
	case verdict.State == ci.Red:
		f.Warn("CI", "the head of "+name+" is red: "+strings.Join(decision.Texts(verdict.Reasons), ", "),
			"fix it: what fails there is not held against a candidate")
	default:
		f.OK("CI", "the head of %s is %s (%d checks)", name, verdict.State, verdict.Seen)
	}
}

// workflows finds those that GitHub switched off.
func (f *Findings) workflows(ctx context.Context, client *api.Client) {
	const subject = "workflows"
	workflows, err := client.Workflows(ctx)
	if err != nil {
		f.Warn(subject, err.Error(), "give the token actions: read")
		return
	}
	on := true
	for _, w := range workflows {
		on = on && !strings.HasPrefix(w.State, "disabled_")
		switch w.State {
		case "disabled_inactivity":
			f.Problem(subject, w.Path+" was switched off by GitHub after 60 days without a commit",
				"enable it under Actions")
		case "disabled_manually", "disabled_fork":
			f.Warn(subject, w.Path+" is switched off", "enable it under Actions, when it is Autoloop's")
		}
	}
	if on {
		f.OK(subject, "%d, none is switched off", len(workflows))
	}
}

// ProgramAgents are the agents that need nothing of the machine, but something of
// the program.
var ProgramAgents = []string{"command", "tuner"}

// Agents says of every agent whether it can be used here, in which version, and what
// it lacks. The installed ones are started to ask for their versions.
func (f *Findings) Agents(ctx context.Context, registry agent.Registry, here agent.Request) error {
	f.OK("prices", "of models whose agent does not say what it cost: as of %s", agent.PricesAsOf())
	for _, one := range registry {
		missing, version := one.Missing(here), ""
		installed, apart := one.(agent.Installed)
		if apart {
			var err error
			if version, err = installed.Version(ctx); err != nil {
				missing = err.Error()
			}
		}
		switch subject := "agent " + one.Name(); {
		case missing == "":
			f.OK(subject, "%s", strings.TrimSpace("ready "+version))
		case slices.Contains(ProgramAgents, one.Name()):
			f.OK(subject, "built in; %s", missing)
		case apart && missing == installed.SignIn():
			f.Warn(subject, strings.TrimSpace("installed and not signed in "+version), missing)
		default:
			*f = append(*f, Finding{Level: Absent, Subject: subject, Message: missing})
		}
	}
	return context.Cause(ctx)
}

// Checkout says whether the repository is whole.
func (f *Findings) Checkout(repo *git.Repo) {
	if repo.IsShallow() {
		f.Warn("checkout", "it is shallow, so every run fetches the rest of the history first",
			"give actions/checkout `fetch-depth: 0`, or run `git fetch --unshallow`")
	} else {
		f.OK("checkout", "%s", repo.Root)
	}
}

// String shows findings to people.
func (f *Findings) String() string {
	table := render.Table{Header: []string{"", "looked at", "found", "fix"}}
	for _, one := range *f {
		sign := map[Level]string{OK: "ok", Absent: "-", Warning: "warn", Problem: "FAIL"}[one.Level]
		table.Rows = append(table.Rows, []string{sign, one.Subject, one.Message, one.Fix})
	}
	return table.String() + "\nLook at one program's evaluation with `iterate doctor PROGRAM`.\n"
}
