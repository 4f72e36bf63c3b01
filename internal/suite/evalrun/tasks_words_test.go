package evalrun

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/suite/tasks"
	"github.com/org/autoloop/tests/golden"
)

func TestLinesHaveWhatDecidesFirst(t *testing.T) {
	t.Parallel()
	found := tasks.Report{Comparison: tasks.Comparison{
		Summary: "regressed", Regressions: []tasks.Reason{{Text: "a is worse"}}, Notes: []tasks.Reason{{Text: "noted"}},
	}}
	for i := range 20 {
		found.Improvements = append(found.Improvements, tasks.Reason{Text: "better " + strconv.Itoa(i)})
	}
	lines := found.Lines()
	assert.Equal(t, []string{"regressed", "a is worse", "noted", "better 0"}, lines[:4])
	assert.Len(t, lines, 12)
}

func TestFailuresAreOfTheFirstRun(t *testing.T) {
	t.Parallel()
	passed := tasks.Run{Checks: []tasks.CheckResult{{Name: "builds", Passed: true}}}
	failed := tasks.Run{
		Failure: "timed out",
		Checks:  []tasks.CheckResult{{Kind: "command", Name: "tests", Detail: "exit code 1"}},
	}
	outcome := func(runs ...tasks.Run) tasks.SuiteOutcome {
		return tasks.SuiteOutcome{Scores: []tasks.Score{{TaskID: "t", Runs: runs}}}
	}
	assert.Equal(t, "every check of the suite passed", TaskFailures(outcome(passed, failed)))
	golden.Row(t, "t: timed out |", TaskFailures(outcome(failed, passed)))
}
