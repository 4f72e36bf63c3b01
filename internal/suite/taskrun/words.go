package taskrun

import (
	"strings"

	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/score"
)

// Lines are a comparison in lines, the deciding ones first.
func (found Report) Lines() []string {
	lines := []string{found.Summary}
	for _, list := range [][]score.Reason{found.Regressions, found.Notes, found.Improvements} {
		for _, reason := range list {
			lines = append(lines, reason.Text)
		}
	}
	const most = 12
	return lines[:min(len(lines), most)]
}

// Failures says which checks failed, for the next proposal.
func Failures(o format.SuiteOutcome) string {
	const most = 30
	var lines []string
	for _, scored := range o.Scores {
		for _, run := range scored.Runs[:min(len(scored.Runs), 1)] {
			if run.Failure != "" {
				lines = append(lines, scored.TaskID+": "+run.Failure)
			}
			for _, check := range run.Checks {
				if !check.Passed {
					lines = append(lines, scored.TaskID+": failed: "+string(check.Kind)+" "+check.Name+": "+check.Detail)
				}
			}
		}
	}
	if len(lines) == 0 {
		return "every check of the suite passed"
	}
	return plain.Short(strings.Join(lines[:min(len(lines), most)], " | "), 2000)
}
