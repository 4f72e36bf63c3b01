package actions

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render/page"
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

// pageWorkflow is the file that `iterate init --pages` writes.
const pageWorkflow = "autoloop-page.yml"

// ProgramPage is where a program's page is, by the workflow that makes it: on GitHub Pages, or
// at the workflow whose artifact it is, of a private repository; "" without the workflow.
// AUTOLOOP_PAGE_URL is another address of GitHub Pages, such as that of a domain of one's own.
func (s Step) ProgramPage(root, name string) string {
	if !s.Running() {
		return ""
	}
	if _, err := os.Stat(filepath.Join(root, ".github", "workflows", pageWorkflow)); err != nil {
		return ""
	}
	server, repository := s.Getenv("GITHUB_SERVER_URL"), s.Getenv("GITHUB_REPOSITORY")
	owner, project, found := strings.Cut(repository, "/")
	url := strings.TrimSuffix(strings.TrimSpace(s.Getenv("AUTOLOOP_PAGE_URL")), "/")
	switch {
	case strings.HasPrefix(url, "https://"):
	case !found || server == "":
		return ""
	case server != "https://github.com", s.event().Repository.Private:
		return server + "/" + repository + "/actions/workflows/" + pageWorkflow
	default:
		url = "https://" + strings.ToLower(owner) + ".github.io"
		if !strings.EqualFold(project, owner+".github.io") {
			url += "/" + project
		}
	}
	return url + "/" + page.File(name)
}
