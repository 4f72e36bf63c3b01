package api

import (
	"context"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/autoloop/internal/plain"
)

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
