package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"
)

// Pull is a pull request.
type Pull struct {
	Number       int
	Body         string
	Open, Merged bool
	Draft        bool
	// Head is the branch that it is made of, HeadSHA its commit. Inside says that the
	// branch is in the repository itself, whatever either is called now.
	Head, HeadSHA string
	Base          string
	Inside        bool
	Updated       time.Time
	// Lines is how many comments there are on lines of its changes; -1 when that
	// was not told, as in a list.
	Lines int
}

// Pulls lists the pull requests of a branch of this very repository, open and
// closed, the latest first. A fork's branch of the same name is not among them.
func (c *Client) Pulls(ctx context.Context, branch string) ([]Pull, error) {
	options := &gh.PullRequestListOptions{
		State: "all", Head: c.owner + ":" + branch, Sort: "created", Direction: "desc",
		ListOptions: gh.ListOptions{PerPage: perPage},
	}
	found, _, err := c.api.PullRequests.List(ctx, c.owner, c.name, options)
	if err != nil {
		return nil, c.fail("list the pull requests of "+branch, err)
	}
	var pulls []Pull
	for _, p := range found {
		if pull := pullOf(p); c.Ours(pull, branch) {
			pulls = append(pulls, pull)
		}
	}
	return pulls, nil
}

// Ours says whether the head of a pull request is that branch of this
// repository exactly.
func (c *Client) Ours(p Pull, branch string) bool {
	return p.Head == branch && p.Inside
}

// Pull reads one pull request.
func (c *Client) Pull(ctx context.Context, number int) (Pull, error) {
	p, _, err := c.api.PullRequests.Get(ctx, c.owner, c.name, number)
	pull := pullOf(p)
	if p != nil && p.ReviewComments != nil {
		pull.Lines = *p.ReviewComments
	}
	return pull, c.fail(fmt.Sprintf("read pull request #%d", number), err)
}

// CreatePull opens a draft pull request of one branch into another; where a
// repository has no drafts, one that is ready.
func (c *Client) CreatePull(ctx context.Context, head, base, title, body string) (Pull, error) {
	draft := true
	request := &gh.NewPullRequest{Title: &title, Body: &body, Head: &head, Base: &base, Draft: &draft}
	p, _, err := c.api.PullRequests.Create(ctx, c.owner, c.name, request)
	failed := c.fail("open a pull request of "+head, err)
	if status(failed) == http.StatusUnprocessableEntity &&
		strings.Contains(strings.ToLower(failed.Error()), "draft pull requests are not supported") {
		draft = false
		p, _, err = c.api.PullRequests.Create(ctx, c.owner, c.name, request)
		failed = c.fail("open a pull request of "+head, err)
	}
	return pullOf(p), failed
}

// EditPull replaces the body; the title is a person's once it is there.
func (c *Client) EditPull(ctx context.Context, number int, body string) error {
	_, _, err := c.api.PullRequests.Edit(ctx, c.owner, c.name, number, &gh.PullRequest{Body: &body})
	return c.fail(fmt.Sprintf("edit pull request #%d", number), err)
}

// Assign adds assignees; those that may not be assigned are left out by GitHub.
func (c *Client) Assign(ctx context.Context, number int, logins ...string) error {
	_, _, err := c.api.Issues.AddAssignees(mayRepeat(ctx), c.owner, c.name, number, logins)
	return c.fail(fmt.Sprintf("assign #%d", number), err)
}

// RequestReviews asks people, and teams as org/team, for their review.
func (c *Client) RequestReviews(ctx context.Context, number int, reviewers ...string) error {
	var request gh.ReviewersRequest
	for _, reviewer := range reviewers {
		if _, team, isTeam := strings.Cut(reviewer, "/"); isTeam {
			request.TeamReviewers = append(request.TeamReviewers, team)
		} else {
			request.Reviewers = append(request.Reviewers, reviewer)
		}
	}
	_, _, err := c.api.PullRequests.RequestReviewers(mayRepeat(ctx), c.owner, c.name, number, request)
	return c.fail(fmt.Sprintf("ask for reviews of #%d", number), err)
}

// ClosePull closes a pull request without merging it.
func (c *Client) ClosePull(ctx context.Context, number int) error {
	closed := "closed"
	_, _, err := c.api.PullRequests.Edit(ctx, c.owner, c.name, number, &gh.PullRequest{State: &closed})
	return c.fail(fmt.Sprintf("close pull request #%d", number), err)
}

func pullOf(p *gh.PullRequest) Pull {
	if p == nil {
		return Pull{}
	}
	return Pull{
		Number: p.GetNumber(), Body: p.GetBody(), Open: p.GetState() == "open",
		Merged: p.GetMerged() || p.MergedAt != nil, Draft: p.GetDraft(), Head: p.GetHead().GetRef(),
		HeadSHA: p.GetHead().GetSHA(),
		Base:    p.GetBase().GetRef(),
		Inside:  p.GetHead().GetRepo() != nil && p.GetHead().GetRepo().GetID() == p.GetBase().GetRepo().GetID(),
		Updated: p.GetUpdatedAt().Time, Lines: -1,
	}
}
