package evalrun

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/suite/tasks"
)

// schema is the version of a report's JSON.
const schema = 1

// report judges the runs and compares the sides.
func (s *comparison) report(ctx context.Context) (found tasks.Report, err error) {
	repeats := s.repeatsMade()
	if s.auto && !s.varies {
		// A second run has only shown that it comes to the same.
		repeats = 1
	}
	if err := s.crashed(); err != nil {
		return found, err
	}
	judged, problems, err := s.judgeAll(ctx, repeats)
	if err != nil {
		return found, err
	}
	found.Baseline = s.outcome(theBaseline, repeats, judged)
	if found.Warnings = problems; s.standalone {
		return found, nil
	}
	found = tasks.Report{
		Schema: schema, Baseline: found.Baseline, Candidate: s.outcome(theCandidate, repeats, judged),
		Suite: s.suite.Dir, Agent: s.Agent, Model: s.Model, Repeats: repeats, Reused: s.reused,
		Warnings: append(append([]string{}, s.warnings...), problems...),
	}
	if s.reused > 0 { // runs of another day, not made in turns with these
		found.Baseline.Interleaved = new(false)
	}
	found.Comparison = tasks.Compare(found.Baseline, found.Candidate, s.Thresholds)
	if len(judged) > 0 {
		found.Judge = s.Grader.Name()
	}
	if s.reused > 0 {
		found.Warnings = append(found.Warnings,
			fmt.Sprintf("%d of %d runs are from an earlier comparison of the same content", s.reused, len(s.records)))
	}
	return found, nil
}

// crashed is an error when the agent failed in every run of a side: that says
// nothing about a configuration.
func (s *comparison) crashed() error {
	for side := range roles {
		failed, runs, why := 0, 0, ""
		for u, r := range s.records {
			if u.side != side {
				continue
			}
			if runs++; r.Crashed {
				failed, why = failed+1, r.Failure
			}
		}
		if runs > 0 && failed == runs {
			return fmt.Errorf("the agent failed in all %d runs of the %s (%s), so that nothing can be compared; "+
				"repair the agent and run it again with --fresh", runs, side, why)
		}
	}
	return nil
}

// outcome puts the records of one side together.
func (s *comparison) outcome(side role, repeats int, judged map[unit]*tasks.Judgement) tasks.SuiteOutcome {
	outcome := tasks.SuiteOutcome{ConfigLabel: s.sides[side].Label, Stochastic: s.stochastic()}
	for i, task := range s.tasks {
		scored := tasks.Score{TaskID: task.ID}
		if task.Rubric != nil {
			scored.JudgeWeight = task.Rubric.Weight
		}
		timed := s.timed(i, repeats)
		for k := range repeats {
			r := s.records[unit{i, side, k}]
			if !timed {
				r.Cost.WallClockMs = nil
			}
			r.Judge, r.Transcript, r.Diff = judged[unit{i, side, k}], r.file(transcriptFile), r.file(diffFile)
			scored.Runs = append(scored.Runs, r.Run)
		}
		outcome.Scores = append(outcome.Scores, scored)
	}
	return outcome
}

// stochastic is what is known about chance: false only when two runs of
// everything came to the same.
func (s *comparison) stochastic() *bool {
	const enough = 2
	if !s.varies && (!s.auto || s.repeatsMade() < enough) {
		return nil
	}
	return new(s.varies)
}

// repeatsMade is how many runs of each task there are on each side.
func (s *comparison) repeatsMade() int {
	return len(s.records) / max(1, len(s.units(1)))
}

// timed reports whether the time that a task's runs took tells configurations
// apart: only where chance is averaged out, and between runs that were made side
// by side.
func (s *comparison) timed(task, repeats int) bool {
	if repeats < 2 { //nolint:mnd // one run is no sample
		return false
	}
	made := s.records[unit{task, theBaseline, 0}].Session
	for u, r := range s.records {
		if u.task == task && r.Session != made {
			return false
		}
	}
	return true
}

// TaskFailures says which checks failed, for the next proposal.
func TaskFailures(o tasks.SuiteOutcome) string {
	const most = 2000
	var lines []string
	for _, scored := range o.Scores {
		for _, run := range scored.Runs[:min(len(scored.Runs), 1)] {
			for _, line := range run.Failed() {
				lines = append(lines, scored.TaskID+": failed: "+line)
			}
		}
	}
	if len(lines) == 0 {
		return "every check of the suite passed"
	}
	return plain.Short(strings.Join(lines, " | "), most)
}

// Alone says what each task of an outcome scored, what failed, and the score of them all.
func Alone(o tasks.SuiteOutcome) string {
	var out strings.Builder
	for _, scored := range o.Scores {
		for k, run := range scored.Runs {
			fmt.Fprintf(&out, "task %s, run %d: %s\n", scored.TaskID, k+1, run.Objective)
			lines := run.Failed()
			if run.Failure != "" { // then no check was looked at
				lines = lines[:1]
			}
			for _, line := range lines {
				fmt.Fprintf(&out, "  failed: %s\n", line)
			}
		}
	}
	if value := tasks.Metric(o); value != nil {
		fmt.Fprintf(&out, "%s: score %s over %d tasks\n", o.ConfigLabel, value, len(o.Scores))
	}
	return out.String()
}

// ReportFile is the file by which a directory is known as a report.
const ReportFile = "report.json"

// WriteReport writes a report with copies of all transcripts and changes,
// and returns it with paths that are relative to the directory.
func WriteReport(dir string, found tasks.Report) (tasks.Report, error) {
	err := clearReport(dir)
	for side, outcome := range [roles]*tasks.SuiteOutcome{&found.Baseline, &found.Candidate} {
		if err == nil {
			*outcome, err = copyRuns(dir, role(side).String(), *outcome)
		}
	}
	contents := map[string]any{ReportFile: found, "baseline.json": found.Baseline, "candidate.json": found.Candidate}
	for name, value := range contents {
		if err == nil {
			err = files.WriteJSON(filepath.Join(dir, name), value)
		}
	}
	if err == nil {
		err = files.WriteFile(filepath.Join(dir, "report.md"), []byte(render.Comparison(found).Markdown()), 0o644)
	}
	if err != nil {
		err = fmt.Errorf("write the report to %s: %w", dir, err)
	}
	return found, err
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
				to := filepath.Join(dir, name)
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
	outcome, err = tasks.ParseOutcome(name, data)
	return outcome, misuse.New(err)
}
