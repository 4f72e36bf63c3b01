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

func ok(subject, format string, args ...any) Finding {
	return Finding{Level: OK, Subject: subject, Message: fmt.Sprintf(format, args...)}
}

func warning(subject, message, fix string) Finding {
	return Finding{Level: Warning, Subject: subject, Message: message, Fix: fix}
}

func problem(subject, message, fix string) Finding {
	return Finding{Level: Problem, Subject: subject, Message: message, Fix: fix}
}

// Hub looks at the repository on GitHub with the token that iterations have.
type Hub struct {
	Client *api.Client
	// WorkflowToken says that the token is the workflow's own.
	WorkflowToken bool
}

// Examine looks at everything; what cannot be read is a finding too.
func (h Hub) Examine(ctx context.Context) []Finding {
	about, err := h.Client.About(ctx)
	if err != nil {
		return []Finding{problem("repository", err.Error(),
			"fix the token or the name of the repository; the rest was not looked at")}
	}
	findings := []Finding{ok("repository", "%s, default branch %s", h.Client.Repository(), about.DefaultBranch)}
	findings = append(findings, repository(about)...)
	findings = append(findings, h.token(about))
	findings = append(findings, h.pulls(ctx)...)
	findings = append(findings, h.branch(ctx, about.DefaultBranch)...)
	findings = append(findings, h.pushes())
	return append(findings, h.workflows(ctx)...)
}

func repository(about api.Repository) []Finding {
	var findings []Finding
	if about.Archived {
		findings = append(findings, problem("repository", "it is archived: nothing can be written", "unarchive it"))
	}
	if about.Fork {
		findings = append(findings, warning("repository",
			"it is a fork: scheduled workflows are off in forks until somebody turns them on, and issues may be off",
			"turn them on under Actions and Settings, or run it in the original"))
	}
	if !about.HasIssues {
		findings = append(findings, problem("issues", "the repository has no issues, so programs cannot be shown",
			"turn issues on under Settings, General, Features"))
	}
	return findings
}

// token says whether the token may push, and what a classic one lacks.
func (h Hub) token(about api.Repository) Finding {
	if len(about.Scopes) > 0 {
		if !slices.Contains(about.Scopes, "repo") && (about.Private || !slices.Contains(about.Scopes, "public_repo")) {
			return problem("token", "it is a classic token with the scopes "+strings.Join(about.Scopes, ", "),
				"give it the scope repo, and workflow when a target has workflow files")
		}
		return ok("token", "a classic token with the scopes %s", strings.Join(about.Scopes, ", "))
	}
	if !about.Push {
		return problem("token", "it may not push",
			"give the job `permissions: contents: write, issues: write, pull-requests: write, checks: read, "+
				"statuses: read`, or the token these rights")
	}
	return ok("token", "it may push")
}

func (h Hub) pulls(ctx context.Context) []Finding {
	const subject = "pull requests"
	allowed, known, err := h.Client.ActionsMayOpenPulls(ctx)
	switch {
	case err != nil:
		return []Finding{warning(subject, err.Error(), "")}
	case !known:
		return []Finding{warning(subject, "whether Actions may open pull requests is not for this token to see",
			"look under Settings, Actions, General, Workflow permissions")}
	case !allowed && h.WorkflowToken:
		return []Finding{problem(subject, "the repository does not let Actions open pull requests",
			"allow it under Settings, Actions, General, Workflow permissions, or give the token of an app or a person")}
	case !allowed:
		return []Finding{ok(subject, "Actions may not open them, and this token is not the workflow's")}
	default:
		return []Finding{ok(subject, "Actions may open them")}
	}
}

// branch looks at the default branch: protected or not, and what CI says of it.
func (h Hub) branch(ctx context.Context, name string) []Finding {
	branch, found, err := h.Client.Branch(ctx, name)
	switch {
	case err != nil:
		return []Finding{warning("default branch", err.Error(), "")}
	case !found:
		return []Finding{problem("default branch", name+" has no commit", "push one")}
	}
	var findings []Finding
	if branch.Protected {
		findings = append(findings, ok("default branch",
			"%s is protected; Autoloop never pushes to it, and its pull requests keep your rules", name))
	} else {
		findings = append(findings, warning("default branch", name+" is not protected",
			"protect it, so that only reviewed work gets in"))
	}
	checks, err := h.Client.Checks(ctx, branch.Commit)
	if err != nil {
		return append(findings, warning("CI", err.Error(), "give the token checks: read and statuses: read"))
	}
	verdict := ci.Judge(ci.Input{
		Commit: branch.Commit, Head: ci.Reading{Checks: values(checks)},
		Branch: ci.Position{Commit: branch.Commit},
	})
	switch {
	case verdict.Seen == 0:
		findings = append(findings, warning("CI",
			fmt.Sprintf("no check ran on the head of %s: `ci-gate: auto` waits for CI where a workflow runs on push "+
				"or pull_request", name), "set `ci-gate: required` in programs whose pull requests have checks"))
	case verdict.State == ci.Red:
		findings = append(findings, warning("CI",
			fmt.Sprintf("the head of %s is red: %s", name, strings.Join(verdict.Words(), ", ")),
			"fix it: what fails there is not held against a candidate"))
	default:
		findings = append(findings, ok("CI", "the head of %s is %s (%d checks)", name, verdict.State, verdict.Seen))
	}
	return findings
}

func values(checks []api.Check) []ci.Check {
	list := make([]ci.Check, len(checks))
	for i, c := range checks {
		list[i] = ci.Check{Name: c.Name, Status: c.Status, Conclusion: c.Conclusion}
	}
	return list
}

func (h Hub) pushes() Finding {
	if h.WorkflowToken {
		return warning("pushes", "pushes and pull requests of the workflow's own token start no CI",
			"name the workflow to start in `ci-workflow`, or give the token of an app or a person")
	}
	return ok("pushes", "pushes of this token start CI")
}

// workflows finds those that GitHub switched off.
func (h Hub) workflows(ctx context.Context) []Finding {
	found, err := h.Client.Workflows(ctx)
	if err != nil {
		return []Finding{warning("workflows", err.Error(), "give the token actions: read")}
	}
	var findings []Finding
	for _, w := range found {
		switch w.State {
		case "disabled_inactivity":
			findings = append(findings, problem("workflows",
				w.Path+" was switched off by GitHub after 60 days without a commit", "enable it under Actions"))
		case "disabled_manually", "disabled_fork":
			findings = append(findings, warning("workflows", w.Path+" is switched off",
				"enable it under Actions, when it is Autoloop's"))
		}
	}
	if len(findings) == 0 {
		findings = append(findings, ok("workflows", "%d, none is switched off", len(found)))
	}
	return findings
}
