package taskrun

import (
	"fmt"
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
			for _, line := range failed(run) {
				lines = append(lines, scored.TaskID+": "+line)
			}
		}
	}
	if len(lines) == 0 {
		return "every check of the suite passed"
	}
	return plain.Short(strings.Join(lines[:min(len(lines), most)], " | "), 2000)
}

// failed is why a run failed, and which checks it did not pass.
func failed(run format.Run) (lines []string) {
	if run.Failure != "" {
		lines = append(lines, run.Failure)
	}
	for _, check := range run.Checks {
		if !check.Passed {
			lines = append(lines, fmt.Sprintf("failed: %s %s: %s", check.Kind, check.Name, check.Detail))
		}
	}
	return lines
}

// Alone says what each task of the baseline scored, what failed, and the score of them all.
func (found Report) Alone() string {
	var out strings.Builder
	for _, scored := range found.Baseline.Scores {
		for k, run := range scored.Runs {
			fmt.Fprintf(&out, "task %s, run %d: %s\n", scored.TaskID, k+1, run.Objective)
			lines := failed(run)
			if run.Failure != "" { // then no check was looked at
				lines = []string{"failed: " + run.Failure}
			}
			for _, line := range lines {
				fmt.Fprintf(&out, "  %s\n", line)
			}
		}
	}
	if value, ok := score.Metric(found.Baseline); ok {
		fmt.Fprintf(&out, "%s: score %s over %d tasks\n", found.Baseline.ConfigLabel, value, len(found.Baseline.Scores))
	}
	return out.String()
}
