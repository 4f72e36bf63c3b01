package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/autoloop/internal/plain"
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

	repository string // the address of the one in which it is
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *Issue) UnmarshalJSON(text []byte) error {
	var read gh.Issue
	err := json.Unmarshal(text, &read)
	*i = Issue{
		Number: read.GetNumber(), Title: read.GetTitle(), Body: read.GetBody(), Open: read.GetState() == "open",
		Author: read.GetUser().GetLogin(), Association: read.GetAuthorAssociation(), Pull: read.IsPullRequest(),
		repository: read.GetRepositoryURL(),
	}
	for _, label := range read.Labels {
		i.Labels = append(i.Labels, label.GetName())
	}
	for _, assignee := range read.Assignees {
		i.Assignees = append(i.Assignees, assignee.GetLogin())
	}
	return err
}

// Issues lists the issues with a label, pull requests left out, the oldest
// first. State is open, closed or all.
func (c *Client) Issues(ctx context.Context, label, state string) ([]Issue, error) {
	issues, err := list[Issue](ctx, c, "list the issues with label "+label, "issues",
		"sort=created&direction=asc&state="+state, "labels="+url.QueryEscape(label))
	return slices.DeleteFunc(issues, func(issue Issue) bool { return issue.Pull }), err
}

// Issue reads one issue. One that was transferred is gone: its number in the other
// repository is somebody else's in this one.
func (c *Client) Issue(ctx context.Context, number int) (Issue, error) {
	op := fmt.Sprintf("read issue #%d", number)
	issue, err := read[Issue](ctx, c, op, fmt.Sprintf("issues/%d", number))
	there := strings.ToLower(issue.repository)
	if there != "" && !strings.HasSuffix(there, "/"+strings.ToLower(c.options.Repository)) {
		return Issue{}, &Error{
			Op: op, Status: http.StatusGone,
			Message: "it is in another repository now: " + plain.Inline(there, 200),
		}
	}
	return issue, err
}

// CreateIssue opens an issue.
func (c *Client) CreateIssue(ctx context.Context, title, body string, labels []string) (issue Issue, err error) {
	_, err = c.do(ctx, "open an issue", http.MethodPost, "issues",
		map[string]any{"title": title, "body": body, "labels": labels}, &issue)
	return issue, err
}

// SetIssueOpen opens or closes an issue.
func (c *Client) SetIssueOpen(ctx context.Context, number int, open bool) error {
	state, op := "closed", "close"
	if open {
		state, op = "open", "reopen"
	}
	return c.edit(ctx, fmt.Sprintf("%s issue #%d", op, number), fmt.Sprintf("issues/%d", number), "state", state)
}

// edit sets one text of something.
func (c *Client) edit(ctx context.Context, op, path, key, text string) error {
	_, err := c.do(ctx, op, http.MethodPatch, path, map[string]string{key: text}, nil)
	return err
}

// AddLabels puts labels on an issue or pull request; those that it has stay.
func (c *Client) AddLabels(ctx context.Context, number int, labels ...string) error {
	return c.add(ctx, fmt.Sprintf("label #%d", number), fmt.Sprintf("issues/%d/labels", number),
		map[string][]string{"labels": labels})
}

// RemoveLabel takes a label off an issue; it is no error if the label is not there.
func (c *Client) RemoveLabel(ctx context.Context, number int, label string) error {
	_, err := c.do(ctx, fmt.Sprintf("take label %s off #%d", label, number), http.MethodDelete,
		fmt.Sprintf("issues/%d/labels/%s", number, url.PathEscape(label)), nil, nil)
	if NotFound(err) {
		return nil
	}
	return err
}
