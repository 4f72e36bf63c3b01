// Package setup finds out whether a repository, a token and a machine can do
// what Autoloop asks of them, and says how to fix what is missing.
package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/ci"
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

// findings are collected while things are looked at.
type findings []Finding

func (f *findings) ok(subject, format string, args ...any) {
	*f = append(*f, Finding{Level: OK, Subject: subject, Message: fmt.Sprintf(format, args...)})
}

func (f *findings) warn(subject, message, fix string) {
	*f = append(*f, Finding{Level: Warning, Subject: subject, Message: message, Fix: fix})
}

func (f *findings) problem(subject, message, fix string) {
	*f = append(*f, Finding{Level: Problem, Subject: subject, Message: message, Fix: fix})
}

// Hub looks at the repository on GitHub with the token that iterations have.
type Hub struct {
	Client *api.Client
	// WorkflowToken says that the token is the workflow's own.
	WorkflowToken bool
}

// Examine looks at everything; what cannot be read is a finding too.
func (h Hub) Examine(ctx context.Context) []Finding {
	var found findings
	about, err := h.Client.About(ctx)
	if err != nil {
		found.problem("repository", err.Error(),
			"fix the token or the name of the repository; the rest was not looked at")
		return found
	}
	found.ok("repository", "%s, default branch %s", h.Client.Repository(), about.DefaultBranch)
	found.repository(about)
	found.token(about)
	h.pulls(ctx, &found)
	h.branch(ctx, about.DefaultBranch, &found)
	if h.WorkflowToken {
		found.warn("pushes", "pushes and pull requests of the workflow's own token start no CI",
			"name the workflow to start in `ci-workflow`, or give the token of an app or a person")
	} else {
		found.ok("pushes", "pushes of this token start CI")
	}
	h.workflows(ctx, &found)
	return found
}

func (f *findings) repository(about api.Repository) {
	if about.Archived {
		f.problem("repository", "it is archived: nothing can be written", "unarchive it")
	}
	if about.Fork {
		f.warn("repository",
			"it is a fork: scheduled workflows are off in forks until somebody turns them on, and issues may be off",
			"turn them on under Actions and Settings, or run it in the original")
	}
	if !about.HasIssues {
		f.problem("issues", "the repository has no issues, so programs cannot be shown",
			"turn issues on under Settings, General, Features")
	}
}

// token says whether the token may push, and what a classic one lacks.
func (f *findings) token(about api.Repository) {
	scopes := strings.Join(about.Scopes, ", ")
	switch {
	case scopes != "" && !slices.Contains(about.Scopes, "repo") &&
		(about.Private || !slices.Contains(about.Scopes, "public_repo")):
		f.problem("token", "it is a classic token with the scopes "+scopes,
			"give it the scope repo, and workflow when a target has workflow files")
	case scopes != "":
		f.ok("token", "a classic token with the scopes %s", scopes)
	case !about.Push:
		f.problem("token", "it may not push",
			"give the job `permissions: contents: write, issues: write, pull-requests: write, checks: read, "+
				"statuses: read`, or the token these rights")
	default:
		f.ok("token", "it may push")
	}
}

func (h Hub) pulls(ctx context.Context, found *findings) {
	const subject = "pull requests"
	allowed, known, err := h.Client.ActionsMayOpenPulls(ctx)
	switch {
	case err != nil:
		found.warn(subject, err.Error(), "")
	case !known:
		found.warn(subject, "whether Actions may open pull requests is not for this token to see",
			"look under Settings, Actions, General, Workflow permissions")
	case allowed:
		found.ok(subject, "Actions may open them")
	case h.WorkflowToken:
		found.problem(subject, "the repository does not let Actions open pull requests",
			"allow it under Settings, Actions, General, Workflow permissions, or give the token of an app or a person")
	default:
		found.ok(subject, "Actions may not open them, and this token is not the workflow's")
	}
}

// branch looks at the default branch: protected or not, and what CI says of it.
func (h Hub) branch(ctx context.Context, name string, found *findings) {
	const subject = "default branch"
	branch, exists, err := h.Client.Branch(ctx, name)
	switch {
	case err != nil:
		found.warn(subject, err.Error(), "")
		return
	case !exists:
		found.problem(subject, name+" has no commit", "push one")
		return
	case branch.Protected:
		found.ok(subject, "%s is protected; Autoloop never pushes to it, and its pull requests keep your rules", name)
	default:
		found.warn(subject, name+" is not protected", "protect it, so that only reviewed work gets in")
	}
	checks, err := h.Client.Checks(ctx, branch.Commit)
	if err != nil {
		found.warn("CI", err.Error(), "give the token checks: read and statuses: read")
		return
	}
	read := make([]ci.Check, len(checks))
	for i, c := range checks {
		read[i] = ci.Check{Name: c.Name, Status: c.Status, Conclusion: c.Conclusion}
	}
	verdict := ci.Judge(ci.Input{
		Commit: branch.Commit, Head: ci.Reading{Checks: read}, Branch: ci.Position{Commit: branch.Commit},
	})
	switch {
	case verdict.Seen == 0:
		found.warn("CI", "no check ran on the head of "+name+": `ci-gate: auto` waits for CI where a workflow runs on "+
			"push or pull_request", "set `ci-gate: required` in programs whose pull requests have checks")
	case verdict.State == ci.Red:
		found.warn("CI", "the head of "+name+" is red: "+strings.Join(verdict.Words(), ", "),
			"fix it: what fails there is not held against a candidate")
	default:
		found.ok("CI", "the head of %s is %s (%d checks)", name, verdict.State, verdict.Seen)
	}
}

// workflows finds those that GitHub switched off.
func (h Hub) workflows(ctx context.Context, found *findings) {
	const subject = "workflows"
	workflows, err := h.Client.Workflows(ctx)
	if err != nil {
		found.warn(subject, err.Error(), "give the token actions: read")
		return
	}
	on := true
	for _, w := range workflows {
		on = on && !strings.HasPrefix(w.State, "disabled_")
		switch w.State {
		case "disabled_inactivity":
			found.problem(subject, w.Path+" was switched off by GitHub after 60 days without a commit",
				"enable it under Actions")
		case "disabled_manually", "disabled_fork":
			found.warn(subject, w.Path+" is switched off", "enable it under Actions, when it is Autoloop's")
		}
	}
	if on {
		found.ok(subject, "%d, none is switched off", len(workflows))
	}
}
