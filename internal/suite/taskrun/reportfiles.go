package taskrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/score"
)

// Shown is a report for people, with its warnings among the notes.
func (found Report) Shown() render.Comparison {
	shown := render.Comparison{Comparison: found.Comparison, Before: found.Baseline, After: found.Candidate}
	shown.Notes = slices.Clone(shown.Notes)
	for _, warning := range found.Warnings {
		shown.Notes = append(shown.Notes, score.Reason{Kind: "warning", Text: warning})
	}
	return shown
}

// ReportFile is the file by which a directory is known as a report.
const ReportFile = "report.json"

// WriteReport writes a report with copies of all transcripts and changes,
// and returns it with paths that are relative to the directory.
func WriteReport(dir string, found Report) (Report, error) {
	fail := func(err error) (Report, error) {
		return found, fmt.Errorf("write the report to %s: %w", dir, err)
	}
	err := clearReport(dir)
	contents := map[string]any{}
	for side, outcome := range [roles]*format.SuiteOutcome{&found.Baseline, &found.Candidate} {
		if err == nil {
			*outcome, err = copyRuns(dir, role(side).String(), *outcome)
		}
		contents[role(side).String()+".json"] = *outcome
	}
	if err != nil {
		return fail(err)
	}
	contents[ReportFile] = found
	for name, value := range contents {
		text, err := ReportJSON(value)
		if err == nil {
			err = files.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			return fail(err)
		}
	}
	if err := files.WriteFile(filepath.Join(dir, "report.md"), []byte(found.Shown().Markdown()), 0o644); err != nil {
		return fail(err)
	}
	return found, nil
}

// ReportJSON is a report as it is written.
func ReportJSON(value any) ([]byte, error) {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the report as JSON: %w", err)
	}
	return append(text, '\n'), nil
}

// clearReport makes a directory ready: new, empty, or an earlier report.
func clearReport(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, ReportFile)); errors.Is(err, fs.ErrNotExist) {
		return errors.New("it has other files; give an empty directory")
	}
	return tree.RemoveAll(filepath.Join(dir, "runs"))
}

// copyRuns copies the files of an outcome's runs below dir.
func copyRuns(dir, side string, outcome format.SuiteOutcome) (format.SuiteOutcome, error) {
	outcome.Scores = slices.Clone(outcome.Scores)
	for i, scored := range outcome.Scores {
		runs := slices.Clone(scored.Runs)
		outcome.Scores[i].Runs = runs
		for k := range runs {
			run := &runs[k]
			into := "runs/" + side + "/" + scored.TaskID + "/" + strconv.Itoa(k+1)
			for _, file := range []*string{&run.Transcript, &run.Diff} {
				if *file == "" {
					continue
				}
				name := into + "/" + filepath.Base(*file)
				to := filepath.Join(dir, filepath.FromSlash(name))
				data, err := os.ReadFile(*file)
				if err == nil {
					err = os.MkdirAll(filepath.Dir(to), 0o755)
				}
				if err == nil {
					err = os.WriteFile(to, data, 0o666)
				}
				if err != nil {
					return outcome, err
				}
				*file = name
			}
		}
	}
	return outcome, nil
}

// maxOutcomeFile bounds what is read of one file.
const maxOutcomeFile = 64 << 20

// ReadOutcome reads the outcome of a suite, which is called name in errors.
func ReadOutcome(file, name string) (format.SuiteOutcome, error) {
	in, err := os.Open(file)
	var data []byte
	if err == nil {
		defer func() { _ = in.Close() }()
		data, err = io.ReadAll(io.LimitReader(in, maxOutcomeFile+1))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return format.SuiteOutcome{}, misuse.Errorf("%s does not exist", name)
	case err != nil:
		return format.SuiteOutcome{}, misuse.Errorf("read %s: %w", name, files.Cause(err))
	}
	outcome, problems := format.ParseOutcome(name, data)
	if len(problems) > 0 {
		const most = 5
		var lines []string
		for _, problem := range problems[:min(most, len(problems))] {
			lines = append(lines, problem.String())
		}
		if more := len(problems) - most; more > 0 {
			lines = append(lines, fmt.Sprintf("and %d more", more))
		}
		return format.SuiteOutcome{}, misuse.Errorf("%s", strings.Join(lines, "; "))
	}
	return outcome, nil
}
