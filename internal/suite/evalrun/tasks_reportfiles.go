package evalrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/suite/tasks"
)

// Shown is a report for people, with its warnings among the notes.
func (found Report) Shown() render.Comparison {
	shown := render.Comparison{Comparison: found.Comparison, Before: found.Baseline, After: found.Candidate}
	shown.Notes = slices.Clone(shown.Notes)
	for _, warning := range found.Warnings {
		shown.Notes = append(shown.Notes, tasks.Reason{Kind: "warning", Text: warning})
	}
	return shown
}

// ReportFile is the file by which a directory is known as a report.
const ReportFile = "report.json"

// WriteReport writes a report with copies of all transcripts and changes,
// and returns it with paths that are relative to the directory.
func WriteReport(dir string, found Report) (Report, error) {
	err := clearReport(dir)
	for side, outcome := range [roles]*tasks.SuiteOutcome{&found.Baseline, &found.Candidate} {
		if err == nil {
			*outcome, err = copyRuns(dir, role(side).String(), *outcome)
		}
	}
	contents := map[string]any{ReportFile: found, "baseline.json": found.Baseline, "candidate.json": found.Candidate}
	for name, value := range contents {
		var text []byte
		if err == nil {
			text, err = ReportJSON(value)
		}
		if err == nil {
			err = files.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
	}
	if err == nil {
		err = files.WriteFile(filepath.Join(dir, "report.md"), []byte(found.Shown().Markdown()), 0o644)
	}
	if err != nil {
		err = fmt.Errorf("write the report to %s: %w", dir, err)
	}
	return found, err
}

// ReportJSON is a report as it is written.
func ReportJSON(value any) ([]byte, error) {
	text, err := json.MarshalIndent(value, "", "  ")
	return append(text, '\n'), err
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
	return os.RemoveAll(filepath.Join(dir, "runs"))
}

// copyRuns copies the files of an outcome's runs below dir.
func copyRuns(dir, side string, outcome tasks.SuiteOutcome) (tasks.SuiteOutcome, error) {
	outcome.Scores = slices.Clone(outcome.Scores)
	for i, scored := range outcome.Scores {
		runs := slices.Clone(scored.Runs)
		outcome.Scores[i].Runs = runs
		for k := range runs {
			for _, file := range []*string{&runs[k].Transcript, &runs[k].Diff} {
				if *file == "" {
					continue
				}
				name := fmt.Sprintf("runs/%s/%s/%d/%s", side, scored.TaskID, k+1, filepath.Base(*file))
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

// ReadOutcome reads the outcome of a suite, which is called name in errors.
func ReadOutcome(file, name string) (outcome tasks.SuiteOutcome, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return outcome, misuse.Errorf("%s does not exist", name)
	}
	if err != nil {
		return outcome, misuse.Errorf("read %s: %w", name, files.Cause(err))
	}
	outcome, problems := tasks.ParseOutcome(name, data)
	if err = problems.Err(); err == nil {
		return outcome, nil
	}
	const most = 5
	lines := strings.Split(err.Error(), "\n")
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("and %d more", more))
	}
	return outcome, misuse.Errorf("%s", strings.Join(lines, "; "))
}
