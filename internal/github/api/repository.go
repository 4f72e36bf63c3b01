package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/autoloop/internal/plain"
)

// Repository is what the API says of the repository to this token.
type Repository struct {
	DefaultBranch           string
	Private, Fork, Archived bool
	HasIssues               bool
	// Push says that the token may push.
	Push bool
	// Scopes are those of a classic token; nil for a token of another
	// kind.
	Scopes []string
}

// About reads the repository.
func (c *Client) About(ctx context.Context) (Repository, error) {
	found, answer, err := c.api.Repositories.Get(ctx, c.owner, c.name)
	if err != nil {
		return Repository{}, c.fail("read repository "+c.Repository(), err)
	}
	about := Repository{
		DefaultBranch: found.GetDefaultBranch(), Private: found.GetPrivate(), Fork: found.GetFork(),
		Archived:  found.GetArchived(),
		HasIssues: found.GetHasIssues(), Push: found.GetPermissions()["push"],
	}
	if text, given := answer.Header["X-Oauth-Scopes"]; given {
		about.Scopes = strings.FieldsFunc(strings.Join(text, ","), func(r rune) bool { return r == ',' || r == ' ' })
		if about.Scopes == nil {
			about.Scopes = []string{}
		}
	}
	return about, nil
}

// Branch is a branch as the API knows it.
type Branch struct {
	Commit    string
	Protected bool
}

// Branch reads a branch; found is false for a missing one.
func (c *Client) Branch(ctx context.Context, name string) (branch Branch, found bool, err error) {
	var b gh.Branch
	// go-github's own call has no error of GitHub's in it.
	_, err = c.get(ctx, "branches/"+url.PathEscape(name), &b)
	if err = c.fail("read branch "+plain.Short(name, 100), err); err != nil {
		if NotFound(err) {
			return branch, false, nil
		}
		return branch, false, err
	}
	return Branch{Commit: b.GetCommit().GetSHA(), Protected: b.GetProtected()}, true, nil
}

// ActionsMayOpenPulls says whether the repository lets workflows open pull
// requests with their own token. Known is false when the token may not see it.
func (c *Client) ActionsMayOpenPulls(ctx context.Context) (allowed, known bool, err error) {
	settings, _, err := c.api.Repositories.GetDefaultWorkflowPermissions(ctx, c.owner, c.name)
	if err = c.fail("read the permissions of workflows", err); err != nil {
		if withheld(err) {
			return false, false, nil
		}
		return false, false, err
	}
	return settings.GetCanApprovePullRequestReviews(), true, nil
}

// Workflow is a workflow of GitHub Actions.
type Workflow struct {
	Path string
	// State is active, disabled_manually, disabled_inactivity and others.
	State string
}

// Workflows lists the workflows of the repository.
func (c *Client) Workflows(ctx context.Context) ([]Workflow, error) {
	return pages(c, "list the workflows", func(page int) ([]*gh.Workflow, *gh.Response, error) {
		list, answer, err := c.api.Actions.ListWorkflows(ctx, c.owner, c.name,
			&gh.ListOptions{Page: page, PerPage: perPage})
		if err != nil {
			return nil, answer, err
		}
		return list.Workflows, answer, nil
	}, func(w *gh.Workflow) Workflow { return Workflow{Path: w.GetPath(), State: w.GetState()} })
}

// Variable reads a variable of the repository for Actions; found is false when
// it is not set, or when the token may not see it.
func (c *Client) Variable(ctx context.Context, name string) (value string, found bool, err error) {
	variable, _, err := c.api.Actions.GetRepoVariable(ctx, c.owner, c.name, name)
	if err = c.fail("read variable "+name, err); err != nil {
		if withheld(err) {
			return "", false, nil
		}
		return "", false, err
	}
	return variable.Value, true, nil
}

// Label is a label that issues of the repository may have. Color is six
// hexadecimal digits.
type Label struct{ Name, Color, Description string }

// Labels are the names of the repository's labels.
func (c *Client) Labels(ctx context.Context) ([]string, error) {
	return pages(c, "list the labels", func(page int) ([]*gh.Label, *gh.Response, error) {
		return c.api.Issues.ListLabels(ctx, c.owner, c.name, &gh.ListOptions{Page: page, PerPage: perPage})
	}, (*gh.Label).GetName)
}

// CreateLabel makes a label; it is no error that there is one of that name.
func (c *Client) CreateLabel(ctx context.Context, label Label) error {
	_, _, err := c.api.Issues.CreateLabel(ctx, c.owner, c.name,
		&gh.Label{Name: &label.Name, Color: &label.Color, Description: &label.Description})
	failed := c.fail("make label "+label.Name, err)
	if status(failed) == http.StatusUnprocessableEntity && strings.Contains(failed.Error(), "already_exists") {
		return nil
	}
	return failed
}

// Author is the login of who wrote a file of the default branch: the author of
// the oldest of its latest hundred commits that belongs to a person. It is ""
// when GitHub knows no login for any of their e-mail addresses.
func (c *Client) Author(ctx context.Context, path string) (string, error) {
	options := &gh.CommitsListOptions{Path: path, ListOptions: gh.ListOptions{PerPage: perPage}}
	commits, _, err := c.api.Repositories.ListCommits(ctx, c.owner, c.name, options)
	if err != nil {
		return "", c.fail("find out who wrote "+plain.Short(path, 100), err)
	}
	for _, commit := range slices.Backward(commits) {
		if login := commit.GetAuthor().GetLogin(); login != "" && !strings.HasSuffix(login, "[bot]") {
			return login, nil
		}
	}
	return "", nil
}
