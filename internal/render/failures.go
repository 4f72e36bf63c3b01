package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite/format"
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

// failure is one thing that failed in some runs of a task.
type failure struct {
	text, links string
	runs        []string
}

// failures says, a line each, what failed in which runs and why, with the files of
// the first of them.
func failures(o format.SuiteOutcome, in style) []string {
	var list []string
	for _, s := range o.Scores {
		var failed []failure
		for k, run := range s.Runs {
			for _, one := range runFailures(run, in) {
				at := slices.IndexFunc(failed, func(f failure) bool { return f.text == one.text })
				if at < 0 {
					at, failed = len(failed), append(failed, one)
				}
				failed[at].runs = append(failed[at].runs, strconv.Itoa(k+1))
			}
		}
		for _, f := range failed {
			name := in.text(s.TaskID, maxLabel)
			switch {
			case len(s.Runs) == 1:
			case len(f.runs) == len(s.Runs):
				name += " (every run)"
			case len(f.runs) == 1:
				name += " (run " + f.runs[0] + ")"
			default:
				name += " (runs " + strings.Join(f.runs, ", ") + ")"
			}
			list = append(list, name+": "+f.text+f.links)
		}
	}
	if len(list) > maxListed {
		more := len(list) - maxListed
		list = append(list[:maxListed], fmt.Sprintf("and %d more", more))
	}
	return list
}

func runFailures(run format.Run, in style) []failure {
	var list []failure
	if run.Failure != "" {
		list = append(list, failure{text: in.text(run.Failure, maxLine)})
	}
	for _, check := range run.Checks {
		if check.Passed {
			continue
		}
		line := in.text(string(check.Kind), maxLabel) + " " + in.text(check.Name, maxLine)
		if check.Detail != "" {
			line += ": " + in.text(check.Detail, maxLine)
		}
		list = append(list, failure{text: line})
	}
	if len(list) == 0 {
		return nil
	}
	if run.Transcript != "" {
		list[len(list)-1].links += "; " + in.link("transcript", run.Transcript)
	}
	if run.Diff != "" {
		list[len(list)-1].links += "; " + in.link("diff", run.Diff)
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
	runs := map[string]int{}
	for _, s := range o.Scores {
		for _, run := range s.Runs {
			if s.TaskID == task && run.Judge != nil && run.Judge.Rationale != "" {
				line := fmt.Sprintf("%s, %s: %s — %s", in.text(task, maxLabel), side, rounded(run.Judge.Score.String()), in.text(run.Judge.Rationale, maxLine))
				if runs[line]++; runs[line] == 1 {
					list = append(list, line)
				}
			}
		}
	}
	for i, line := range list {
		if runs[line] > 1 {
			list[i] += fmt.Sprintf(" (%d runs)", runs[line])
		}
	}
	return list
}
