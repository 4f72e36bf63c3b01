package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/autoloop/internal/plain"
)

// The bounds of a list: entries on a page, and pages.
const (
	perPage  = 100
	maxPages = 500
)

// Issue is an issue of the repository.
type Issue struct {
	Number      int
	Title, Body string
	Open        bool
	// Author is the login of who opened it, Association their relation to the
	// repository, such as OWNER or NONE.
	Author, Association string
	Labels, Assignees   []string
	// Pull says that it is a pull request.
	Pull bool
}

// Issues lists the issues with a label, pull requests left out, the oldest
// first. State is open, closed or all.
func (c *Client) Issues(ctx context.Context, label, state string) ([]Issue, error) {
	options := &gh.IssueListByRepoOptions{
		Labels: []string{label}, State: state, Sort: "created", Direction: "asc",
		ListOptions: gh.ListOptions{PerPage: perPage},
	}
	issues, err := pages(c, "list the issues with label "+label, func(page int) ([]*gh.Issue, *gh.Response, error) {
		options.Page = page
		return c.api.Issues.ListByRepo(ctx, c.owner, c.name, options)
	}, issueOf)
	return slices.DeleteFunc(issues, func(issue Issue) bool { return issue.Pull }), err
}

// Issue reads one issue. One that was transferred is gone: its number in the other
// repository is somebody else's in this one.
func (c *Client) Issue(ctx context.Context, number int) (Issue, error) {
	issue, _, err := c.api.Issues.Get(ctx, c.owner, c.name, number)
	op := fmt.Sprintf("read issue #%d", number)
	if there := c.elsewhere(issue); err == nil && there != "" {
		return Issue{}, &Error{
			Op: op, Status: http.StatusGone,
			Message: "it is in another repository now: " + plain.Inline(there, 200),
		}
	}
	return issueOf(issue), c.fail(op, err)
}

// elsewhere is an address of the issue that is of another repository, "" for none.
func (c *Client) elsewhere(issue *gh.Issue) string {
	own := strings.ToLower("/" + c.owner + "/" + c.name + "/")
	for _, address := range []string{issue.GetRepositoryURL() + "/issues/0", issue.GetURL(), issue.GetHTMLURL()} {
		of := strings.ToLower(path.Dir(path.Dir(address)) + "/")
		if strings.Count(address, "/") > 2 && !strings.HasSuffix(of, own) {
			return address
		}
	}
	return ""
}

// CreateIssue opens an issue.
func (c *Client) CreateIssue(ctx context.Context, title, body string, labels []string) (Issue, error) {
	request := &gh.IssueRequest{Title: &title, Body: &body}
	if len(labels) > 0 {
		request.Labels = &labels
	}
	issue, _, err := c.api.Issues.Create(ctx, c.owner, c.name, request)
	return issueOf(issue), c.fail("open an issue", err)
}

// SetIssueOpen opens or closes an issue.
func (c *Client) SetIssueOpen(ctx context.Context, number int, open bool) error {
	state, op := "closed", "close"
	if open {
		state, op = "open", "reopen"
	}
	_, _, err := c.api.Issues.Edit(ctx, c.owner, c.name, number, &gh.IssueRequest{State: &state})
	return c.fail(fmt.Sprintf("%s issue #%d", op, number), err)
}

// AddLabels puts labels on an issue or pull request; those that it has stay.
func (c *Client) AddLabels(ctx context.Context, number int, labels ...string) error {
	// go-github sends the bare list, which GitHub takes but does not describe.
	path := fmt.Sprintf("repos/%s/%s/issues/%d/labels", c.owner, c.name, number)
	request, err := c.api.NewRequest(http.MethodPost, path, map[string][]string{"labels": labels})
	if err == nil {
		_, err = c.api.Do(mayRepeat(ctx), request, nil)
	}
	return c.fail(fmt.Sprintf("label #%d", number), err)
}

// RemoveLabel takes a label off an issue; it is no error if the label is not there.
func (c *Client) RemoveLabel(ctx context.Context, number int, label string) error {
	_, err := c.api.Issues.RemoveLabelForIssue(ctx, c.owner, c.name, number, label)
	if err = c.fail(fmt.Sprintf("take label %s off #%d", label, number), err); NotFound(err) {
		return nil
	}
	return err
}

func issueOf(i *gh.Issue) Issue {
	if i == nil {
		return Issue{}
	}
	issue := Issue{
		Number: i.GetNumber(), Title: i.GetTitle(), Body: i.GetBody(), Open: i.GetState() == "open",
		Author:      i.GetUser().GetLogin(),
		Association: i.GetAuthorAssociation(), Pull: i.IsPullRequest(),
	}
	for _, label := range i.Labels {
		issue.Labels = append(issue.Labels, label.GetName())
	}
	for _, assignee := range i.Assignees {
		issue.Assignees = append(issue.Assignees, assignee.GetLogin())
	}
	return issue
}

var errTooMany = errors.New("the list has more entries than are read; something in this repository is out of bounds")

// pages reads a whole list: what each entry of it is. Op says what for, in an error.
func pages[T, U any](c *Client, op string, read func(page int) ([]T, *gh.Response, error), of func(T) U) ([]U, error) {
	var all []U
	page := 1
	for range maxPages {
		entries, answer, err := read(page)
		if err != nil {
			return nil, c.fail(op, err)
		}
		for _, entry := range entries {
			all = append(all, of(entry))
		}
		if answer.NextPage <= page {
			return all, nil
		}
		page = answer.NextPage
	}
	return nil, c.fail(op, errTooMany)
}
