package evalrun

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/score"
	"github.com/org/autoloop/tests/golden"
)

func TestLinesHaveWhatDecidesFirst(t *testing.T) {
	t.Parallel()
	found := Report{Comparison: score.Comparison{
		Summary: "regressed", Regressions: []score.Reason{{Text: "a is worse"}}, Notes: []score.Reason{{Text: "noted"}},
	}}
	for i := range 20 {
		found.Improvements = append(found.Improvements, score.Reason{Text: "better " + strconv.Itoa(i)})
	}
	lines := found.Lines()
	assert.Equal(t, []string{"regressed", "a is worse", "noted", "better 0"}, lines[:4])
	assert.Len(t, lines, 12)
}

func TestFailuresAreOfTheFirstRun(t *testing.T) {
	t.Parallel()
	passed := format.Run{Checks: []format.CheckResult{{Name: "builds", Passed: true}}}
	failed := format.Run{
		Failure: "timed out",
		Checks:  []format.CheckResult{{Kind: "command", Name: "tests", Detail: "exit code 1"}},
	}
	outcome := func(runs ...format.Run) format.SuiteOutcome {
		return format.SuiteOutcome{Scores: []format.Score{{TaskID: "t", Runs: runs}}}
	}
	assert.Equal(t, "every check of the suite passed", TaskFailures(outcome(passed, failed)))
	golden.Row(t, "t: timed out |", TaskFailures(outcome(failed, passed)))
}
