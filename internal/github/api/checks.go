package api

import (
	"context"

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
