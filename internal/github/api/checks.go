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
	latest := "latest"
	options := &gh.ListCheckRunsOptions{Filter: &latest, ListOptions: gh.ListOptions{PerPage: perPage}}
	of := " of " + plain.Short(commit, 12)
	runs, err := pages(c, "read the check runs"+of, func(page int) ([]*gh.CheckRun, *gh.Response, error) {
		options.Page = page
		list, answer, err := c.api.Checks.ListCheckRunsForRef(ctx, c.owner, c.name, commit, options)
		if err != nil {
			return nil, answer, err
		}
		return list.CheckRuns, answer, nil
	}, checkOfRun)
	if err != nil {
		return nil, err
	}
	statuses, err := pages(c, "read the statuses"+of, func(page int) ([]*gh.RepoStatus, *gh.Response, error) {
		combined, answer, err := c.api.Repositories.GetCombinedStatus(ctx, c.owner, c.name, commit,
			&gh.ListOptions{Page: page, PerPage: perPage})
		if err != nil {
			return nil, answer, err
		}
		return combined.Statuses, answer, nil
	}, checkOfStatus)
	return append(runs, statuses...), err
}

func checkOfRun(run *gh.CheckRun) Check {
	return Check{
		Check: ci.Check{
			Name: run.GetName(), App: run.GetApp().GetID(), Status: run.GetStatus(),
			Conclusion: run.GetConclusion(), URL: run.GetHTMLURL(), Started: run.GetStartedAt().Time,
		},
		ID: run.GetID(), Suite: run.GetCheckSuite().GetID(),
		Summary: run.GetOutput().GetTitle() + "\n" + run.GetOutput().GetSummary() + "\n" + run.GetOutput().GetText(),
	}
}

func checkOfStatus(status *gh.RepoStatus) Check {
	check := Check{
		Check: ci.Check{
			Name: status.GetContext(), Status: "completed", Conclusion: status.GetState(),
			URL: status.GetTargetURL(), Started: status.GetCreatedAt().Time,
		},
		Summary: status.GetDescription(),
	}
	switch status.GetState() {
	case "pending":
		check.Status, check.Conclusion = "in_progress", ""
	case "error":
		check.Conclusion = "failure"
	}
	return check
}

// Annotations are the messages that a check run put on lines of files, at most
// fifty.
func (c *Client) Annotations(ctx context.Context, check int64) ([]string, error) {
	found, _, err := c.api.Checks.ListCheckRunAnnotations(ctx, c.owner, c.name, check, &gh.ListOptions{PerPage: 50})
	if err != nil {
		return nil, c.fail("read the annotations of a check run", err)
	}
	var lines []string
	for _, a := range found {
		if level := a.GetAnnotationLevel(); level == "failure" || level == "" {
			lines = append(lines, plain.Short(a.GetPath()+": "+a.GetMessage(), 300))
		}
	}
	return lines, nil
}

// Dispatch starts a workflow on a branch.
func (c *Client) Dispatch(ctx context.Context, workflow, branch string) error {
	_, err := c.api.Actions.CreateWorkflowDispatchEventByFileName(ctx, c.owner, c.name, workflow,
		gh.CreateWorkflowDispatchEventRequest{Ref: branch})
	return c.fail("start workflow "+plain.Short(workflow, 80), err)
}

// RunEnded says whether a run of a workflow has come to its end, however. It is
// false as well for a run that the token may not see.
func (c *Client) RunEnded(ctx context.Context, id int64) (bool, error) {
	run, _, err := c.api.Actions.GetWorkflowRunByID(ctx, c.owner, c.name, id)
	if err = c.fail(fmt.Sprintf("read workflow run %d", id), err); err != nil {
		if withheld(err) {
			return false, nil
		}
		return false, err
	}
	return run.GetStatus() == "completed", nil
}

// WorkflowRun is a run of a workflow on a commit.
type WorkflowRun struct {
	ci.Run
	// Event started it, such as push or schedule.
	Event string
	// Suite is the check suite of its jobs.
	Suite int64
}

// WorkflowRuns lists the runs of workflows on exactly this commit.
func (c *Client) WorkflowRuns(ctx context.Context, commit string) ([]WorkflowRun, error) {
	options := &gh.ListWorkflowRunsOptions{HeadSHA: commit, ListOptions: gh.ListOptions{PerPage: perPage}}
	op := "read the workflow runs of " + plain.Short(commit, 12)
	return pages(c, op, func(page int) ([]*gh.WorkflowRun, *gh.Response, error) {
		options.Page = page
		list, answer, err := c.api.Actions.ListRepositoryWorkflowRuns(ctx, c.owner, c.name, options)
		if err != nil {
			return nil, answer, err
		}
		return list.WorkflowRuns, answer, nil
	}, func(run *gh.WorkflowRun) WorkflowRun {
		return WorkflowRun{
			Run:   ci.Run{Name: run.GetName(), Status: run.GetStatus(), Conclusion: run.GetConclusion()},
			Event: run.GetEvent(), Suite: run.GetCheckSuiteID(),
		}
	})
}

// CheckSuite is what one GitHub App reports of a commit. GitHub makes one for every
// installed app that may write checks, also for those that never do.
type CheckSuite struct {
	// App has the slug of the app, such as github-actions.
	App                struct{ Slug string }
	Status, Conclusion string
	// Checks is how many check runs it has by now.
	Checks int64 `json:"latest_check_runs_count"`
}

// Suites lists the check suites of exactly this commit.
func (c *Client) Suites(ctx context.Context, commit string) ([]CheckSuite, error) {
	op := "read the check suites of " + plain.Short(commit, 12)
	return pages(c, op, func(page int) ([]CheckSuite, *gh.Response, error) {
		var list struct {
			Suites []CheckSuite `json:"check_suites"`
		}
		answer, err := c.page(ctx, "commits/"+url.PathEscape(commit)+"/check-suites", page, &list)
		return list.Suites, answer, err
	}, func(suite CheckSuite) CheckSuite { return suite })
}

// RequiredChecks are those that the rulesets and the protection of a branch
// require. GitHub shows a branch's required checks to whoever may read it; the
// rest of its protection is for administrators.
func (c *Client) RequiredChecks(ctx context.Context, branch string) ([]ci.Required, error) {
	required, err := c.protectionChecks(ctx, branch)
	if err != nil {
		return nil, err
	}
	ruled, err := c.ruleChecks(ctx, branch)
	for _, check := range ruled {
		if !slices.Contains(required, check) {
			required = append(required, check)
		}
	}
	return required, err
}

func (c *Client) protectionChecks(ctx context.Context, branch string) ([]ci.Required, error) {
	var found struct {
		Protection struct {
			Required struct {
				Contexts []string
				Checks   []struct {
					Context string
					App     *int64 `json:"app_id"`
				}
			} `json:"required_status_checks"`
		}
	}
	if _, err := c.get(ctx, "branches/"+url.PathEscape(branch), &found); err != nil {
		return nil, c.fail("read the protection of branch "+plain.Short(branch, 100), err)
	}
	var list []ci.Required
	for _, check := range found.Protection.Required.Checks {
		list = append(list, ci.Required{Name: check.Context, App: appOf(check.App)})
	}
	for _, name := range found.Protection.Required.Contexts {
		if !slices.ContainsFunc(list, func(r ci.Required) bool { return r.Name == name }) {
			list = append(list, ci.Required{Name: name})
		}
	}
	return list, nil
}

// ruleChecks are those of the rulesets. A server without rulesets, and a plan
// without them, has no rules.
func (c *Client) ruleChecks(ctx context.Context, branch string) ([]ci.Required, error) {
	type rule struct {
		Type       string
		Parameters struct {
			Checks []struct {
				Context string
				App     *int64 `json:"integration_id"`
			} `json:"required_status_checks"`
		}
	}
	op := "read the rules of branch " + plain.Short(branch, 100)
	rules, err := pages(c, op, func(page int) (found []rule, answer *gh.Response, err error) {
		answer, err = c.page(ctx, "rules/branches/"+url.PathEscape(branch), page, &found)
		return found, answer, err
	}, func(r rule) (list []ci.Required) {
		for _, check := range r.Parameters.Checks {
			if r.Type == "required_status_checks" {
				list = append(list, ci.Required{Name: check.Context, App: appOf(check.App)})
			}
		}
		return list
	})
	if NotFound(err) || status(err) == http.StatusForbidden && strings.Contains(err.Error(), "Upgrade to GitHub") {
		err = nil
	}
	return slices.Concat(rules...), err
}

// appOf is 0 where GitHub says null or -1: any app will do.
func appOf(id *int64) int64 {
	if id == nil || *id < 0 {
		return 0
	}
	return *id
}
