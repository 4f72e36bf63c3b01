package api

import (
	"context"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v62/github"
)

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
