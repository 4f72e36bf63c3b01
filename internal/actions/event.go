package actions

import (
	"encoding/json"
	"os"
	"path"
	"strings"

	"github.com/org/autoloop/internal/misuse"
)

// event is what is read of the event that started a workflow.
type event struct {
	Inputs struct {
		Program string `json:"program"`
	} `json:"inputs"`
	Repository struct {
		Private       bool   `json:"private"`
		DefaultBranch string `json:"default_branch"`
	} `json:"repository"`
	Issue struct {
		Number int `json:"number"`
	} `json:"issue"`
}

// event reads the event of this workflow run; it is empty where the run has no event.
func (s Step) event() event {
	var found event
	data, _ := os.ReadFile(s.Getenv("GITHUB_EVENT_PATH"))
	if json.Unmarshal(data, &found) != nil {
		return event{}
	}
	return found
}

// EventIssue is the number of the issue or pull request that the event of this
// workflow run is about; 0 outside of Actions and for other events.
func (s Step) EventIssue() int {
	if !s.Running() {
		return 0
	}
	return max(s.event().Issue.Number, 0)
}

// CheckBranch refuses a run that a person started on another branch than the default one,
// or than base, "" for none: the programs of that branch would go on with the records of
// those that people agreed on.
func (s Step) CheckBranch(base string) error {
	branch, standard := s.Getenv("GITHUB_REF_NAME"), s.event().Repository.DefaultBranch
	if !s.Running() || s.Getenv("GITHUB_EVENT_NAME") != "workflow_dispatch" || standard == "" || branch == standard ||
		branch == base {
		return nil
	}
	file, _, _ := strings.Cut(s.Getenv("GITHUB_WORKFLOW_REF"), "@")
	return misuse.Errorf("this run was started on %q, and programs come from %s: start it there, with `gh workflow "+
		"run %s --ref %s`",
		branch, standard, path.Base(file), standard)
}

// RequestedProgram is the program that was asked for from outside:
// AUTOLOOP_PROGRAM, else the input "program" of a workflow that a person started.
func (s Step) RequestedProgram() string {
	if name := strings.TrimSpace(s.Getenv("AUTOLOOP_PROGRAM")); name != "" {
		return name
	}
	if s.Getenv("GITHUB_EVENT_NAME") != "workflow_dispatch" {
		return ""
	}
	return strings.TrimSpace(s.event().Inputs.Program)
}
