package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/plain"
)

// RunEnded says whether a run of a workflow has come to its end, however. It is
// false as well for a run that the token may not see.
func (c *Client) RunEnded(ctx context.Context, id int64) (bool, error) {
	run, _, err := c.api.Actions.GetWorkflowRunByID(ctx, c.owner, c.name, id)
	if err = c.fail(fmt.Sprintf("read workflow run %d", id), err); err != nil {
		if slices.Contains([]int{http.StatusForbidden, http.StatusNotFound}, status(err)) {
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
