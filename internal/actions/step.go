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
	"path/filepath"
	"strings"
	"unicode"

	"github.com/org/autoloop/internal/files"
)

// Step is the step of a workflow that this process is, if it is one.
type Step struct {
	Getenv func(string) string
	// Environ is the whole environment, whose secrets are masked.
	Environ []string
	// Log is what the runner reads workflow commands from.
	Log io.Writer
	// Dir is the working directory.
	Dir string
}

// Running reports whether this process is a step of GitHub Actions.
func (s Step) Running() bool { return s.Getenv("GITHUB_ACTIONS") == "true" }

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
	text, err := json.MarshalIndent(value, "", "  ")
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return "", err
	}
	return file, files.WriteFile(file, append(text, '\n'), 0o644)
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
