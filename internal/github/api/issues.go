package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/lists"
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
		repository: read.GetRepositoryURL(), Labels: lists.Map(read.Labels, (*gh.Label).GetName),
		Assignees: lists.Map(read.Assignees, (*gh.User).GetLogin),
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

// Comment is a comment on an issue, in the conversation of a pull request, or
// on lines of a pull request's changes, or a review.
type Comment struct {
	commands.Address
	Body string
	// User wrote it, Association is their relation to the repository.
	User        struct{ Login string }
	Association string    `json:"author_association"`
	Created     time.Time `json:"created_at"`
	Submitted   time.Time `json:"submitted_at"` // a review
	// Path is the file of a comment on lines, else "".
	Path  string
	Issue string `json:"issue_url"`
}

// Comments lists what was said in a place of an issue or pull request since a time, the
// oldest first: of talk and lines also what was edited since. A zero time is all of it; talk
// of the number 0 is that of every issue and pull request.
func (c *Client) Comments(ctx context.Context, at commands.Place, number int, since time.Time) ([]Comment, error) {
	var query []string
	what, from := fmt.Sprintf("comments of #%d", number), fmt.Sprintf("issues/%d/comments", number)
	switch {
	case at == commands.Lines:
		what, from = "review "+what, fmt.Sprintf("pulls/%d/comments", number)
	case at == commands.Review:
		what, from = fmt.Sprintf("reviews of #%d", number), fmt.Sprintf("pulls/%d/reviews", number)
	case number == 0:
		what, from = "comments", "issues/comments"
	}
	if !since.IsZero() && at != commands.Review {
		query = append(query, "since="+since.UTC().Format(time.RFC3339))
	}
	all, err := list[Comment](ctx, c, "read the "+what, from, query...)
	for i := range all {
		all[i].Place, all[i].On = at, number
		if number == 0 {
			all[i].On, _ = strconv.Atoi(path.Base(all[i].Issue))
		}
		if at == commands.Review {
			all[i].Created = all[i].Submitted
		}
	}
	return slices.DeleteFunc(all, func(c Comment) bool { return at == commands.Review && c.Created.Before(since) }), err
}

// CreateComment comments on an issue or pull request.
func (c *Client) CreateComment(ctx context.Context, number int, body string) (comment Comment, err error) {
	_, err = c.do(ctx, fmt.Sprintf("comment on #%d", number), http.MethodPost,
		fmt.Sprintf("issues/%d/comments", number), map[string]string{"body": body}, &comment)
	comment.On = number
	return comment, err
}

// EditComment replaces the body of a comment.
func (c *Client) EditComment(ctx context.Context, id int64, body string) error {
	return c.edit(ctx, fmt.Sprintf("edit comment %d", id), fmt.Sprintf("issues/comments/%d", id), "body", body)
}

// The reactions that are given.
const (
	Agreed   = "+1"
	Confused = "confused"
)

// React gives a reaction to a comment; giving it twice is giving it once. Reviews take none.
func (c *Client) React(ctx context.Context, to commands.Address, reaction string) error {
	of := map[commands.Place]string{commands.Talk: "issues", commands.Lines: "pulls"}[to.Place]
	if of == "" {
		return nil
	}
	return c.add(ctx, fmt.Sprintf("react to comment %d", to.ID), fmt.Sprintf("%s/comments/%d/reactions", of, to.ID),
		map[string]string{"content": reaction})
}

// Pull is a pull request.
type Pull struct {
	Number      int
	Body, State string
	Draft       bool
	// Head is what it is made of, Base what it is for.
	Head, Base End
	MergedAt   *time.Time `json:"merged_at"`
	Updated    time.Time  `json:"updated_at"`
}

// End is a branch with its commit. The repository may be gone.
type End struct {
	Ref, SHA string
	Repo     *struct{ ID int64 }
}

// Open says whether it is neither merged nor closed.
func (p Pull) Open() bool { return p.State == "open" }

// Ours says whether its head is that branch of this very repository, whatever the repository
// is called now.
func (p Pull) Ours(branch string) bool {
	head, base := p.Head.Repo, p.Base.Repo
	return p.Head.Ref == branch && head != nil && base != nil && head.ID == base.ID
}

// Pulls lists the pull requests of a branch of this very repository, open and
// closed, the latest first. A fork's branch of the same name is not among them.
func (c *Client) Pulls(ctx context.Context, branch string) ([]Pull, error) {
	owner, _, _ := strings.Cut(c.options.Repository, "/")
	pulls, err := read[[]Pull](ctx, c, "list the pull requests of "+branch,
		"pulls?state=all&sort=created&direction=desc&per_page=100&head="+url.QueryEscape(owner+":"+branch))
	return slices.DeleteFunc(pulls, func(p Pull) bool { return !p.Ours(branch) }), err
}

// Pull reads one pull request.
func (c *Client) Pull(ctx context.Context, number int) (Pull, error) {
	return read[Pull](ctx, c, fmt.Sprintf("read pull request #%d", number), fmt.Sprintf("pulls/%d", number))
}

// CreatePull opens a draft pull request of one branch into another; where a
// repository has no drafts, one that is ready.
func (c *Client) CreatePull(ctx context.Context, head, base, title, body string) (pull Pull, err error) {
	for _, draft := range []bool{true, false} {
		_, err = c.do(ctx, "open a pull request of "+head, http.MethodPost, "pulls",
			map[string]any{"title": title, "body": body, "head": head, "base": base, "draft": draft}, &pull)
		if !Invalid(err) || !strings.Contains(strings.ToLower(err.Error()), "draft pull requests are not supported") {
			break
		}
	}
	return pull, err
}

// EditPull replaces the body; the title is a person's once it is there.
func (c *Client) EditPull(ctx context.Context, number int, body string) error {
	return c.edit(ctx, fmt.Sprintf("edit pull request #%d", number), fmt.Sprintf("pulls/%d", number), "body", body)
}

// ClosePull closes a pull request without merging it.
func (c *Client) ClosePull(ctx context.Context, number int) error {
	return c.edit(ctx, fmt.Sprintf("close pull request #%d", number), fmt.Sprintf("pulls/%d", number), "state", "closed")
}

// Assign adds assignees; those that may not be assigned are left out by GitHub.
func (c *Client) Assign(ctx context.Context, number int, logins ...string) error {
	return c.add(ctx, fmt.Sprintf("assign #%d", number), fmt.Sprintf("issues/%d/assignees", number),
		map[string][]string{"assignees": logins})
}

// RequestReviews asks people, and teams as org/team, for their review.
func (c *Client) RequestReviews(ctx context.Context, number int, reviewers ...string) error {
	request := map[string][]string{}
	for _, reviewer := range reviewers {
		key := "reviewers"
		if _, team, is := strings.Cut(reviewer, "/"); is {
			key, reviewer = "team_reviewers", team
		}
		request[key] = append(request[key], reviewer)
	}
	return c.add(ctx, fmt.Sprintf("ask for reviews of #%d", number),
		fmt.Sprintf("pulls/%d/requested_reviewers", number), request)
}
