package render

import (
	"fmt"

	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/tasks/format"
)

// What one report lists at most: failures, and on a terminal rationales.
const (
	maxListed = 100
	maxSaid   = 20
)

// style is how a kind of report writes text of unknown origin, and files.
type style struct {
	text func(text string, width int) string
	link func(label, path string) string
}

func plainStyle() style {
	return style{plain.Short, func(label, path string) string { return plain.Short(label+" "+path, maxLine) }}
}

func markdownStyle() style { return style{plain.Literal, Link} }

// failures says, a line each, which runs and checks failed and why.
func failures(o format.SuiteOutcome, in style) []string {
	var list []string
	for _, s := range o.Scores {
		for k, run := range s.Runs {
			name := in.text(s.TaskID, maxLabel)
			if len(s.Runs) > 1 {
				name += fmt.Sprintf(" (run %d)", k+1)
			}
			list = append(list, runFailures(name, run, in)...)
		}
	}
	if len(list) > maxListed {
		more := len(list) - maxListed
		list = append(list[:maxListed], fmt.Sprintf("and %d more", more))
	}
	return list
}

func runFailures(name string, run format.Run, in style) []string {
	var list []string
	if run.Failure != "" {
		list = append(list, name+": "+in.text(run.Failure, maxLine))
	}
	for _, check := range run.Checks {
		if check.Passed {
			continue
		}
		line := fmt.Sprintf("%s: %s %s", name, in.text(string(check.Kind), maxLabel), in.text(check.Name, maxLine))
		if check.Detail != "" {
			line += ": " + in.text(check.Detail, maxLine)
		}
		list = append(list, line)
	}
	if len(list) == 0 {
		return nil
	}
	if run.Transcript != "" {
		list[len(list)-1] += "; " + in.link("transcript", run.Transcript)
	}
	if run.Diff != "" {
		list[len(list)-1] += "; " + in.link("diff", run.Diff)
	}
	return list
}

// rationales lists what the judge said of each task, the baseline's before the
// candidate's.
func rationales(before, after format.SuiteOutcome, in style, most int) []string {
	var list []string
	for _, s := range after.Scores {
		list = append(list, rationalesOf(before, s.TaskID, "baseline", in)...)
		list = append(list, rationalesOf(after, s.TaskID, "candidate", in)...)
	}
	if more := len(list) - most; more > 0 {
		list = append(list[:most], fmt.Sprintf("and %d more", more))
	}
	return list
}

func rationalesOf(o format.SuiteOutcome, task, side string, in style) []string {
	var list []string
	for _, s := range o.Scores {
		for _, run := range s.Runs {
			if s.TaskID == task && run.Judge != nil && run.Judge.Rationale != "" {
				list = append(list, fmt.Sprintf("%s, %s: %s — %s", in.text(task, maxLabel), side, run.Judge.Score, in.text(run.Judge.Rationale, maxLine)))
			}
		}
	}
	return list
}
