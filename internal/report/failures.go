package report

import (
	"fmt"

	"github.com/org/autoloop/internal/suite"
)

// maxListed bounds the failures that one report lists.
const maxListed = 100

// style is how a kind of report writes text of unknown origin, and files.
type style struct {
	text func(text string, width int) string
	link func(label, path string) string
}

func plainStyle() style {
	return style{Plain, func(label, path string) string { return Plain(label+" "+path, maxLine) }}
}

func markdownStyle() style { return style{Inline, Link} }

// failures says, a line each, which runs and checks failed and why.
func failures(o suite.Outcome, in style) []string {
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

func runFailures(name string, run suite.Run, in style) []string {
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

// rationales lists what the judge said of each task, baseline beside candidate.
func rationales(before, after suite.Outcome) []string {
	var list []string
	for _, side := range []struct {
		name    string
		outcome suite.Outcome
	}{{"baseline", before}, {"candidate", after}} {
		for _, s := range side.outcome.Scores {
			for _, run := range s.Runs {
				if run.Judge != nil && run.Judge.Rationale != "" && len(list) < maxListed {
					list = append(list, fmt.Sprintf("%s, %s: %s — %s", Inline(s.TaskID, maxLabel), side.name, run.Judge.Score, Inline(run.Judge.Rationale, maxLine)))
				}
			}
		}
	}
	return list
}
