package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/suite/format"
)

// failure is one thing that failed in some runs of a task.
type failure struct {
	text, links string
	runs        []string
}

// failures says, a line each, what failed in which runs and why, with the files of
// the first of them.
func failures(o format.SuiteOutcome, f form) []string {
	var list []string
	for _, s := range o.Scores {
		var failed []failure
		for k, run := range s.Runs {
			for _, one := range runFailures(run, f) {
				at := slices.IndexFunc(failed, func(known failure) bool { return known.text == one.text })
				if at < 0 {
					at, failed = len(failed), append(failed, one)
				}
				failed[at].runs = append(failed[at].runs, strconv.Itoa(k+1))
			}
		}
		for _, one := range failed {
			which := ""
			switch {
			case len(s.Runs) == 1:
			case len(one.runs) == len(s.Runs):
				which = " (every run)"
			case len(one.runs) == 1:
				which = " (run " + one.runs[0] + ")"
			default:
				which = " (runs " + strings.Join(one.runs, ", ") + ")"
			}
			list = append(list, f.text(s.TaskID, maxLabel)+which+": "+one.text+one.links)
		}
	}
	return atMost(list, maxListed)
}

func runFailures(run format.Run, f form) []failure {
	var list []failure
	if run.Failure != "" {
		list = append(list, failure{text: f.text(run.Failure, maxLine)})
	}
	for _, check := range run.Checks {
		if check.Passed {
			continue
		}
		line := f.text(string(check.Kind), maxLabel) + " " + f.text(check.Name, maxLine)
		if check.Detail != "" {
			line += ": " + f.text(check.Detail, maxLine)
		}
		list = append(list, failure{text: line})
	}
	for _, file := range [][2]string{{"transcript", run.Transcript}, {"diff", run.Diff}} {
		if len(list) > 0 && file[1] != "" {
			list[len(list)-1].links += "; " + f.link(file[0], file[1])
		}
	}
	return list
}

// rationales lists what the judge said of each task, the baseline's before the
// candidate's; what it said of several runs once.
func rationales(before, after format.SuiteOutcome, f form) []string {
	var list []string
	runs := map[string]int{}
	for _, task := range after.Scores {
		for i, side := range []format.SuiteOutcome{before, after} {
			for _, s := range side.Scores {
				for _, run := range s.Runs {
					if s.TaskID != task.TaskID || run.Judge == nil || run.Judge.Rationale == "" {
						continue
					}
					line := fmt.Sprintf(
						"%s, %s: %s — %s",
						f.text(s.TaskID, maxLabel),
						[]string{"baseline", "candidate"}[i],
						rounded(run.Judge.Score.String()),
						f.text(run.Judge.Rationale, maxLine),
					)
					if runs[line]++; runs[line] == 1 {
						list = append(list, line)
					}
				}
			}
		}
	}
	for i, line := range list {
		if runs[line] > 1 {
			list[i] += fmt.Sprintf(" (%d runs)", runs[line])
		}
	}
	return atMost(list, f.said)
}
