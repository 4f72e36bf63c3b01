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
	runs, err := pages(func(page int) ([]*gh.CheckRun, *gh.Response, error) {
		options.Page = page
		list, answer, err := c.api.Checks.ListCheckRunsForRef(ctx, c.owner, c.name, commit, options)
		if err != nil {
			return nil, answer, err
		}
		return list.CheckRuns, answer, nil
	})
	if err != nil {
		return nil, c.fail("read the check runs of "+plain.Short(commit, 12), err)
	}
	var checks []Check
	for _, run := range runs {
		checks = append(checks, Check{
			Check: ci.Check{
				Name: run.GetName(), App: run.GetApp().GetID(), Status: run.GetStatus(),
				Conclusion: run.GetConclusion(), URL: run.GetHTMLURL(), Started: run.GetStartedAt().Time,
			},
			ID: run.GetID(), Suite: run.GetCheckSuite().GetID(),
			Summary: run.GetOutput().GetTitle() + "\n" + run.GetOutput().GetSummary() + "\n" +
				run.GetOutput().GetText(),
		})
	}
	statuses, err := c.statuses(ctx, commit)
	return append(checks, statuses...), err
}

func (c *Client) statuses(ctx context.Context, commit string) ([]Check, error) {
	options := &gh.ListOptions{PerPage: perPage}
	found, err := pages(func(page int) ([]*gh.RepoStatus, *gh.Response, error) {
		options.Page = page
		combined, answer, err := c.api.Repositories.GetCombinedStatus(ctx, c.owner, c.name, commit, options)
		if err != nil {
			return nil, answer, err
		}
		return combined.Statuses, answer, nil
	})
	if err != nil {
		return nil, c.fail("read the statuses of "+plain.Short(commit, 12), err)
	}
	checks := make([]Check, 0, len(found))
	for _, status := range found {
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
		checks = append(checks, check)
	}
	return checks, nil
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
