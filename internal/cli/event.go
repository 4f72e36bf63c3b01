package cli

import (
	"encoding/json"
	"io"
	"os"
)

// maxEvent bounds what is read of the event that started a workflow.
const maxEvent = 4 << 20

// eventIssue is the number of the issue or pull request that the event of this
// workflow run is about; 0 outside of Actions and for events about none.
func eventIssue(env Env) int {
	if !env.InActions() {
		return 0
	}
	in, err := os.Open(env.Getenv("GITHUB_EVENT_PATH"))
	if err != nil {
		return 0
	}
	defer func() { _ = in.Close() }()
	var event struct {
		Issue struct {
			Number int `json:"number"`
		} `json:"issue"`
	}
	if json.NewDecoder(io.LimitReader(in, maxEvent)).Decode(&event) != nil {
		return 0
	}
	return max(event.Issue.Number, 0)
}
