// Package actions speaks to the runner of GitHub Actions: the outputs of a step,
// its annotations, the summary of its job, and the event that started it. Outside
// of Actions it writes nothing.
package actions

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render/page"
)

// Step is the step of a workflow that this process is, if it is one.
type Step struct {
	// Getenv returns the value of an environment variable, "" when unset.
	Getenv func(string) string
	// Environ is the whole environment as NAME=value, whose secrets are masked.
	Environ []string
	// Stderr is what the runner reads workflow commands from.
	Stderr io.Writer
	// Dir is the working directory.
	Dir string
}

// repositoryURL is the page of the repository.
func (s Step) repositoryURL() string {
	return s.Getenv("GITHUB_SERVER_URL") + "/" + s.Getenv("GITHUB_REPOSITORY")
}

// RunURL links to the log of this run in Actions; "" elsewhere.
func (s Step) RunURL() string {
	if !s.InActions() {
		return ""
	}
	return s.repositoryURL() + "/actions/runs/" + s.Getenv("GITHUB_RUN_ID")
}

// InActions reports whether this process is a step of GitHub Actions.
func (s Step) InActions() bool { return s.Getenv("GITHUB_ACTIONS") == "true" }

// Output is one output of a step; an empty value means that it is not set.
type Output struct{ Name, Value string }

// SetOutputs adds to the file that GITHUB_OUTPUT names, if it is set.
func (s Step) SetOutputs(outputs ...Output) error {
	var text strings.Builder
	for _, o := range outputs {
		text.WriteString(o.String())
	}
	return appendTo(s.Getenv("GITHUB_OUTPUT"), text.String())
}

// String is the output in the form of the file. A value that is not one plain
// line stands between delimiters that nobody can foresee, so that none of its
// lines is another output.
func (o Output) String() string {
	if !strings.ContainsFunc(o.Value, unicode.IsControl) {
		return o.Name + "=" + o.Value + "\n"
	}
	var chance [16]byte
	_, _ = rand.Read(chance[:])
	end := "end_" + hex.EncodeToString(chance[:])
	return o.Name + "<<" + end + "\n" + o.Value + "\n" + end + "\n"
}

// AddSummary adds markdown to the summary of the job.
func (s Step) AddSummary(markdown string) error {
	return appendTo(s.Getenv("GITHUB_STEP_SUMMARY"), markdown)
}

// ReportFile is the name of the file that the output `report` names.
const ReportFile = "report.json"

// WriteReport keeps a value as JSON in a directory for the output `report`, and
// returns its file; "" outside of Actions.
func (s Step) WriteReport(dir string, value any) (string, error) {
	if s.Getenv("GITHUB_OUTPUT") == "" {
		return "", nil
	}
	file := filepath.Join(dir, ReportFile)
	return file, files.WriteJSON(file, value)
}

func appendTo(file, text string) error {
	if file == "" {
		return nil
	}
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = out.WriteString(text)
	return errors.Join(err, out.Close())
}

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
	if !s.InActions() {
		return 0
	}
	return max(s.event().Issue.Number, 0)
}

// CheckBranch refuses a run that a person started on another branch than the default one,
// or than base, "" for none: the programs of that branch would go on with the records of
// those that people agreed on.
func (s Step) CheckBranch(base string) error {
	branch, standard := s.Getenv("GITHUB_REF_NAME"), s.event().Repository.DefaultBranch
	if !s.InActions() || s.Getenv("GITHUB_EVENT_NAME") != "workflow_dispatch" || standard == "" || branch == standard ||
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
	if !s.InActions() {
		return ""
	}
	if _, err := os.Stat(filepath.Join(root, ".github", "workflows", pageWorkflow)); err != nil {
		return ""
	}
	server := s.Getenv("GITHUB_SERVER_URL")
	owner, project, found := strings.Cut(s.Getenv("GITHUB_REPOSITORY"), "/")
	url := strings.TrimSuffix(strings.TrimSpace(s.Getenv("AUTOLOOP_PAGE_URL")), "/")
	switch {
	case strings.HasPrefix(url, "https://"):
	case !found || server == "":
		return ""
	case server != "https://github.com", s.event().Repository.Private:
		return s.repositoryURL() + "/actions/workflows/" + pageWorkflow
	default:
		url = "https://" + strings.ToLower(owner) + ".github.io"
		if !strings.EqualFold(project, owner+".github.io") {
			url += "/" + project
		}
	}
	return url + "/" + page.File(name)
}
