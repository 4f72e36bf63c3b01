package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/plain"
)

// Check is a check run on a commit, or a commit status in the same words.
type Check struct {
	ci.Check
	// Summary is what it says in words, as markdown.
	Summary string
	// ID is the check run's, Suite that of its check suite; 0 for a commit status.
	ID, Suite int64
}

// Checks lists the latest check run of each name, and the commit statuses, of
// exactly this commit.
func (c *Client) Checks(ctx context.Context, commit string) ([]Check, error) {
	at, of := "commits/"+url.PathEscape(commit), " of "+plain.Short(commit, 12)
	runs, err := list[*gh.CheckRun](ctx, c, "read the check runs"+of, at+"/check-runs", "filter=latest")
	if err != nil {
		return nil, err
	}
	statuses, err := list[*gh.RepoStatus](ctx, c, "read the statuses"+of, at+"/status")
	var checks []Check
	for _, run := range runs {
		said := run.GetOutput()
		checks = append(checks, Check{
			Check: ci.Check{
				Name: run.GetName(), App: run.GetApp().GetID(), Status: run.GetStatus(),
				Conclusion: run.GetConclusion(), URL: run.GetHTMLURL(), Started: run.GetStartedAt().Time,
			},
			ID: run.GetID(), Suite: run.GetCheckSuite().GetID(),
			Summary: said.GetTitle() + "\n" + said.GetSummary() + "\n" + said.GetText(),
		})
	}
	for _, status := range statuses {
		check := Check{
			Check: ci.Check{
				Name: status.GetContext(), Status: "completed", Conclusion: status.GetState(),
				URL: status.GetTargetURL(), Started: status.GetCreatedAt().Time,
			},
			Summary: status.GetDescription(),
		}
		switch check.Conclusion {
		case "pending":
			check.Status, check.Conclusion = "in_progress", ""
		case "error":
			check.Conclusion = "failure"
		}
		checks = append(checks, check)
	}
	return checks, err
}

// Annotations are the messages that a check run put on lines of files, at most
// fifty.
func (c *Client) Annotations(ctx context.Context, check int64) ([]string, error) {
	found, err := read[[]*gh.CheckRunAnnotation](ctx, c, "read the annotations of a check run",
		fmt.Sprintf("check-runs/%d/annotations?per_page=50", check))
	var lines []string
	for _, a := range found {
		if level := a.GetAnnotationLevel(); level == "failure" || level == "" {
			lines = append(lines, plain.Short(a.GetPath()+": "+a.GetMessage(), 300))
		}
	}
	return lines, err
}

// Dispatch starts a workflow on a branch.
func (c *Client) Dispatch(ctx context.Context, workflow, branch string) error {
	_, err := c.do(ctx, "start workflow "+plain.Short(workflow, 80), http.MethodPost,
		"actions/workflows/"+url.PathEscape(workflow)+"/dispatches", map[string]string{"ref": branch}, nil)
	return err
}

// RunEnded says whether a run of a workflow has come to its end, however. It is
// false as well for a run that the token may not see.
func (c *Client) RunEnded(ctx context.Context, id int64) (bool, error) {
	run, _, err := seen[ci.Run](ctx, c, fmt.Sprintf("read workflow run %d", id), fmt.Sprintf("actions/runs/%d", id))
	return run.Status == "completed", err
}

// WorkflowRun is a run of a workflow on a commit.
type WorkflowRun struct {
	ci.Run
	// Event started it, such as push or schedule.
	Event string
	// Suite is the check suite of its jobs.
	Suite int64 `json:"check_suite_id"`
}

// WorkflowRuns lists the runs of workflows on exactly this commit.
func (c *Client) WorkflowRuns(ctx context.Context, commit string) ([]WorkflowRun, error) {
	return list[WorkflowRun](ctx, c, "read the workflow runs of "+plain.Short(commit, 12), "actions/runs",
		"head_sha="+url.QueryEscape(commit))
}

// CheckSuite is what one GitHub App reports of a commit. GitHub makes one for every
// installed app that may write checks, also for those that never do.
type CheckSuite struct {
	ci.Run // without a name
	// App has the slug of the app, such as github-actions.
	App struct{ Slug string }
	// Checks is how many check runs it has by now.
	Checks int64 `json:"latest_check_runs_count"`
}

// Suites lists the check suites of exactly this commit.
func (c *Client) Suites(ctx context.Context, commit string) ([]CheckSuite, error) {
	return list[CheckSuite](ctx, c, "read the check suites of "+plain.Short(commit, 12),
		"commits/"+url.PathEscape(commit)+"/check-suites")
}

// required is a check of a rule or of a protection. The app is null or -1 where any will do.
type required struct {
	Context     string
	App         int64 `json:"app_id"`
	Integration int64 `json:"integration_id"`
}

// RequiredChecks are those that the rulesets and the protection of a branch
// require. GitHub shows a branch's required checks to whoever may read it; the
// rest of its protection is for administrators. A server without rulesets, and a plan
// without them, has no rules.
func (c *Client) RequiredChecks(ctx context.Context, branch string) ([]ci.Required, error) {
	name := plain.Short(branch, 100)
	found, err := read[Branch](ctx, c, "read the protection of branch "+name, "branches/"+url.PathEscape(branch))
	if err != nil {
		return nil, err
	}
	rules, err := list[struct {
		Type       string
		Parameters struct {
			Checks []required `json:"required_status_checks"`
		}
	}](ctx, c, "read the rules of branch "+name, "rules/branches/"+url.PathEscape(branch))
	if NotFound(err) || status(err) == http.StatusForbidden && strings.Contains(err.Error(), "Upgrade to GitHub") {
		err = nil
	}
	protection := found.Protection.Required
	all := protection.Checks
	for _, name := range protection.Contexts {
		if !slices.ContainsFunc(all, func(r required) bool { return r.Context == name }) {
			all = append(all, required{Context: name})
		}
	}
	for _, rule := range rules {
		if rule.Type == "required_status_checks" {
			all = append(all, rule.Parameters.Checks...)
		}
	}
	var list []ci.Required
	for _, check := range all {
		one := ci.Required{Name: check.Context, App: max(check.App, check.Integration, 0)}
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list, err
}
