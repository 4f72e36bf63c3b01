package cli

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

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/tasks/format"
	"github.com/org/autoloop/internal/tasks/score"
	"github.com/org/autoloop/internal/tasks/taskrun"
)

// deliver writes and prints the report; the verdict is the exit code.
func (o *tasksOptions) deliver(env Env, found taskrun.Report) error {
	if o.report != "" {
		var err error
		if found, err = writeTaskReport(env.Path(o.report), found); err != nil {
			return err
		}
	}
	if err := printTaskReport(env, o.output, found); err != nil {
		return err
	}
	if err := compareOutputs(env, found.Verdict, found, o.report); err != nil {
		return err
	}
	if found.Verdict == decision.Regressed {
		return &ExitError{Code: ExitFailed}
	}
	return nil
}

func printTaskReport(env Env, o compareOptions, found taskrun.Report) error {
	shown := shownReport(found)
	if !o.json {
		return printComparison(env, o, shown)
	}
	for _, warning := range found.Warnings {
		fmt.Fprintln(env.Stderr, "warning:", plain.Short(warning, maxWarning))
	}
	if err := o.page(env, shown); err != nil {
		return err
	}
	if err := env.Actions().AddSummary(shown.Markdown() + "\n"); err != nil {
		return err
	}
	text, err := taskJSON(found)
	if err != nil {
		return err
	}
	_, err = env.Stdout.Write(text)
	return err
}

const maxWarning = 400

// shownReport is a report for people, with its warnings among the notes.
func shownReport(found taskrun.Report) render.Comparison {
	shown := render.Comparison{Comparison: found.Comparison, Before: found.Baseline, After: found.Candidate}
	shown.Notes = slices.Clone(shown.Notes)
	for _, warning := range found.Warnings {
		shown.Notes = append(shown.Notes, score.Reason{Kind: "warning", Text: warning})
	}
	return shown
}

// reportFile is the file by which a directory is known as a report.
const reportFile = "report.json"

// writeTaskReport writes a report with copies of all transcripts and changes,
// and returns it with paths that are relative to the directory.
func writeTaskReport(dir string, found taskrun.Report) (taskrun.Report, error) {
	fail := func(err error) (taskrun.Report, error) {
		return found, fmt.Errorf("write the report to %s: %w", dir, err)
	}
	if err := clearReport(dir); err != nil {
		return fail(err)
	}
	var err error
	if found.Baseline, err = copyRuns(dir, "baseline", found.Baseline); err != nil {
		return fail(err)
	}
	if found.Candidate, err = copyRuns(dir, "candidate", found.Candidate); err != nil {
		return fail(err)
	}
	contents := map[string]any{reportFile: found, "baseline.json": found.Baseline, "candidate.json": found.Candidate}
	for name, value := range contents {
		text, err := taskJSON(value)
		if err == nil {
			err = files.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			return fail(err)
		}
	}
	if err := files.WriteFile(filepath.Join(dir, "report.md"), []byte(shownReport(found).Markdown()), 0o644); err != nil {
		return fail(err)
	}
	return found, nil
}

func taskJSON(value any) ([]byte, error) {
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
	if _, err := os.Stat(filepath.Join(dir, reportFile)); errors.Is(err, fs.ErrNotExist) {
		return errors.New("it has other files; give an empty directory")
	}
	return tree.RemoveAll(filepath.Join(dir, "runs"))
}

// copyRuns copies the files of an outcome's runs below dir.
func copyRuns(dir, side string, outcome format.SuiteOutcome) (format.SuiteOutcome, error) {
	scores := append([]format.Score{}, outcome.Scores...)
	for i, scored := range scores {
		scores[i].Runs = append([]format.Run{}, scored.Runs...)
		for k := range scores[i].Runs {
			run := &scores[i].Runs[k]
			into := "runs/" + side + "/" + scored.TaskID + "/" + strconv.Itoa(k+1)
			for _, file := range []*string{&run.Transcript, &run.Diff} {
				if *file == "" {
					continue
				}
				name := into + "/" + filepath.Base(*file)
				if err := copyFile(*file, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
					return outcome, err
				}
				*file = name
			}
		}
	}
	outcome.Scores = scores
	return outcome, nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}
