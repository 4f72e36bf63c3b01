package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

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
