package api

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/org/autoloop/internal/github/commands"
)

// Comment is a comment on an issue, in the conversation of a pull request, or
// on lines of a pull request's changes, or a review.
type Comment struct {
	ID   int64
	Body string
	// User wrote it, Association is their relation to the repository.
	User        struct{ Login string }
	Association string    `json:"author_association"`
	Created     time.Time `json:"created_at"`
	Submitted   time.Time `json:"submitted_at"` // a review
	// Path is the file of a comment on lines, else "".
	Path  string
	Issue string `json:"issue_url"`
	// Place is where it stands, On the issue or pull request.
	Place commands.Place `json:"-"`
	On    int            `json:"-"`
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
func (c *Client) React(ctx context.Context, id int64, at commands.Place, reaction string) error {
	if at == commands.Review {
		return nil
	}
	of := "issues"
	if at == commands.Lines {
		of = "pulls"
	}
	return c.add(ctx, fmt.Sprintf("react to comment %d", id), fmt.Sprintf("%s/comments/%d/reactions", of, id),
		map[string]string{"content": reaction})
}
