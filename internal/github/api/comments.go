package api

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/autoloop/internal/github/commands"
)

// Comment is a comment on an issue, in the conversation of a pull request, or
// on lines of a pull request's changes.
type Comment struct {
	ID   int64
	Body string
	// Author is a login, Association their relation to the repository.
	Author, Association string
	Created             time.Time
	Place               commands.Place
	// Path is the file of a comment on lines, else "".
	Path string
	// On is the issue or pull request.
	On int
}

// Comments lists the comments of an issue or of a pull request's conversation, or with 0
// those of all of them, that were written or edited since a time, the oldest first; a zero
// time is all of them.
func (c *Client) Comments(ctx context.Context, number int, since time.Time) ([]Comment, error) {
	options := &gh.IssueListCommentsOptions{ListOptions: gh.ListOptions{PerPage: perPage}}
	if !since.IsZero() {
		since = since.UTC().Truncate(time.Second)
		options.Since = &since
	}
	op := "read the comments"
	if number > 0 {
		op += fmt.Sprintf(" of #%d", number)
	}
	return pages(c, op, func(page int) ([]*gh.IssueComment, *gh.Response, error) {
		options.Page = page
		return c.api.Issues.ListComments(ctx, c.owner, c.name, number, options)
	}, commentOf)
}

// CreateComment comments on an issue or pull request.
func (c *Client) CreateComment(ctx context.Context, number int, body string) (Comment, error) {
	comment, _, err := c.api.Issues.CreateComment(ctx, c.owner, c.name, number, &gh.IssueComment{Body: &body})
	return commentOf(comment), c.fail(fmt.Sprintf("comment on #%d", number), err)
}

// EditComment replaces the body of a comment.
func (c *Client) EditComment(ctx context.Context, id int64, body string) error {
	_, _, err := c.api.Issues.EditComment(ctx, c.owner, c.name, id, &gh.IssueComment{Body: &body})
	return c.fail(fmt.Sprintf("edit comment %d", id), err)
}

// ReviewComments lists the comments on lines of a pull request that were
// written or edited since a time, the oldest first.
func (c *Client) ReviewComments(ctx context.Context, pull int, since time.Time) ([]Comment, error) {
	options := &gh.PullRequestListCommentsOptions{
		Since: since, Sort: "created", Direction: "asc",
		ListOptions: gh.ListOptions{PerPage: perPage},
	}
	op := fmt.Sprintf("read the review comments of #%d", pull)
	return pages(c, op, func(page int) ([]*gh.PullRequestComment, *gh.Response, error) {
		options.Page = page
		return c.api.PullRequests.ListComments(ctx, c.owner, c.name, pull, options)
	}, func(comment *gh.PullRequestComment) Comment {
		return Comment{
			ID: comment.GetID(), Body: comment.GetBody(), Author: comment.GetUser().GetLogin(),
			Association: comment.GetAuthorAssociation(),
			Created:     comment.GetCreatedAt().Time, Place: commands.Lines, Path: comment.GetPath(), On: pull,
		}
	})
}

// Reviews lists the texts of the reviews of a pull request since a time, the oldest first;
// news says whether there was a review at all.
func (c *Client) Reviews(ctx context.Context, pull int, since time.Time) (texts []Comment, news bool, err error) {
	op := fmt.Sprintf("read the reviews of #%d", pull)
	texts, err = pages(c, op, func(page int) ([]*gh.PullRequestReview, *gh.Response, error) {
		return c.api.PullRequests.ListReviews(ctx, c.owner, c.name, pull, &gh.ListOptions{Page: page, PerPage: perPage})
	}, func(review *gh.PullRequestReview) Comment {
		return Comment{
			ID: review.GetID(), Body: review.GetBody(), Author: review.GetUser().GetLogin(),
			Association: review.GetAuthorAssociation(),
			Created:     review.GetSubmittedAt().Time, Place: commands.Review, On: pull,
		}
	})
	texts = slices.DeleteFunc(texts, func(c Comment) bool { return c.Created.Before(since) })
	news = len(texts) > 0
	return slices.DeleteFunc(texts, func(c Comment) bool { return c.Body == "" }), news, err
}

// Login is whose token it is. An app's token may not ask: Refused says so of the error.
func (c *Client) Login(ctx context.Context) (string, error) {
	user, _, err := c.api.Users.Get(ctx, "")
	return user.GetLogin(), c.fail("read whose token it is", err)
}

// The reactions that are given.
const (
	Agreed   = "+1"
	Confused = "confused"
)

// React gives a reaction to a comment; giving it twice is giving it once. Reviews take none.
func (c *Client) React(ctx context.Context, id int64, at commands.Place, reaction string) error {
	var err error
	switch at {
	case commands.Lines:
		_, _, err = c.api.Reactions.CreatePullRequestCommentReaction(mayRepeat(ctx), c.owner, c.name, id, reaction)
	case commands.Talk:
		_, _, err = c.api.Reactions.CreateIssueCommentReaction(mayRepeat(ctx), c.owner, c.name, id, reaction)
	case commands.Review:
	}
	return c.fail(fmt.Sprintf("react to comment %d", id), err)
}

func commentOf(c *gh.IssueComment) Comment {
	if c == nil {
		return Comment{}
	}
	return Comment{
		ID: c.GetID(), Body: c.GetBody(), Author: c.GetUser().GetLogin(), Association: c.GetAuthorAssociation(),
		Created: c.GetCreatedAt().Time, On: numberOf(c.GetIssueURL()),
	}
}

// numberOf is the number at the end of an issue's address, or 0.
func numberOf(address string) int {
	number, err := strconv.Atoi(path.Base(address))
	if err != nil {
		return 0
	}
	return number
}
