package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
)

// RunEnded says whether a run of a workflow has come to its end, however. It is
// false as well for a run that the token may not see.
func (c *Client) RunEnded(ctx context.Context, id int64) (bool, error) {
	run, _, err := c.api.Actions.GetWorkflowRunByID(ctx, c.owner, c.name, id)
	if err = c.fail(fmt.Sprintf("read workflow run %d", id), err); err != nil {
		if slices.Contains([]int{http.StatusForbidden, http.StatusNotFound}, status(err)) {
			return false, nil
		}
		return false, err
	}
	return run.GetStatus() == "completed", nil
}
