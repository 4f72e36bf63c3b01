package history_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/tests/golden"
)

// TestStanding: whether the last decision waits for CI, and how often that was to be fixed. A run that only waits
// begins no iteration, and one that ended without a decision changes nothing.
func TestStanding(t *testing.T) {
	t.Parallel()
	const (
		accepted = "decided iteration=1 outcome=accepted commit=a | "
		pending  = "started iteration=2 | decided iteration=2 outcome=pending-ci commit=c | finished iteration=2 | "
		checked  = "checked iteration=2 commit=c | "
	)
	golden.Table(t, map[string]string{
		"no event":               "=> false 0",
		"accepted":               accepted + "started iteration=2 => false 0",
		"waiting for CI":         pending + "=> true 0",
		"waiting in a later run": pending + "started iteration=3 | finished iteration=3 => true 0",
		"CI let it through":      pending + "decided iteration=2 outcome=accepted commit=c => false 0",
		"a fix that failed":      pending + checked + "=> true 1",
		"a fix that was pushed": pending + checked +
			"decided iteration=2 outcome=pending-ci commit=d => true 1",
		"a fix of another":        pending + "checked iteration=1 => true 0",
		"CI turned it down":       pending + checked + "decided iteration=2 outcome=ci-fix-exhausted => false 1",
		"fixes of the one before": pending + checked + "decided iteration=3 outcome=pending-ci => true 0",
	}, func(t *testing.T, line string) any {
		s := replay(t, line)
		return fmt.Sprintln(s.Waiting() != nil, s.Fixes())
	})
}

// TestStandingHasCIFindings of earlier commits of the iteration, and since when the present one waits; who goes on
// from it changes nothing in it.
func TestStandingHasCIFindings(t *testing.T) {
	t.Parallel()
	const a = "decided iteration=1 outcome=pending-ci commit=a minute=1 | pushed minute=2 commit=a | " +
		"checked iteration=1 commit=a signature=build | "
	s := replay(t, a)
	assert.False(t, s.FailedBefore("build"), "it is the same commit")
	assert.Equal(t, noon.Add(1*time.Minute), s.WaitsSince)
	s = replay(t, a+"resumed minute=3")
	assert.Equal(t, noon.Add(3*time.Minute), s.WaitsSince, "a person sent it back")
	list := events(t, a+"decided iteration=1 outcome=pending-ci commit=b minute=4 | "+
		"decided iteration=1 outcome=pending-ci "+
		"commit=b minute=5 | checked iteration=1 commit=z signature=lint | checked iteration=1 commit=z signature=test")
	s = history.Replay(list[:5])
	assert.True(t, s.FailedBefore("build"))
	assert.Equal(t, noon.Add(4*time.Minute), s.WaitsSince, "the first record of the commit counts")
	lint := history.Replay(list[:6])
	test := history.Replay(append(list[:5:5], list[6]))
	assert.Equal(t, []bool{false, true, false, false, true}, []bool{
		s.FailedBefore("lint"), lint.FailedBefore("lint"), lint.FailedBefore("test"), test.FailedBefore("lint"),
		test.FailedBefore("test"),
	})
}

// TestFailedIsTheLastCandidate that was measured, when it is of the iteration.
func TestFailedIsTheLastCandidate(t *testing.T) {
	t.Parallel()
	const (
		one    = "measured iteration=3 proposal=1 role=candidate metric=5 | "
		failed = "measured iteration=3 proposal=2 role=candidate metric=0 problem=broke output=printed | "
	)
	golden.Table(t, map[string]string{
		"nothing":               " => ",
		"one":                   one + " => ",
		"the last failed":       one + failed + " => printed",
		"the incumbent after":   failed + "measured iteration=3 role=incumbent metric=9 => printed",
		"an earlier one failed": failed + one + " => ",
		"one is decided on":     one + failed + "decided iteration=3 proposal=1 => printed",
		"of another iteration":  failed + "measured iteration=4 proposal=1 role=candidate metric=6 => ",
	}, func(t *testing.T, line string) any {
		s := replay(t, line)
		return fmt.Sprintln(s.Failed(3), s.Failed(2))
	})
}

// TestSidesOfAnAttempt are of its own trial: of the comparison that decided last, else of the stage that was measured last.
func TestSidesOfAnAttempt(t *testing.T) {
	t.Parallel()
	pairs := "measured role=incumbent stage=pairs metric=1 | measured role=candidate stage=pairs metric=2 | "
	golden.Table(t, map[string]string{
		"nothing":            "decided => <nil> <nil>",
		"once":               "measured role=candidate stage=once metric=2 | decided => <nil> 2",
		"again":              "measured role=candidate stage=once metric=2 | " + pairs + "decided => 1 2",
		"a baseline":         "measured role=baseline metric=8 | measured role=incumbent metric=9 | decided => <nil> <nil>",
		"not to its end":     "measured role=candidate stage=once metric=7 | measured role=incumbent stage=pairs metric=1 | decided => 1 <nil>",
		"what is held":       pairs + "measured role=emptied stage=held metric=7 | decided => 1 2",
		"another proposal":   pairs + "measured role=candidate stage=pairs proposal=2 metric=7 | decided => 1 2",
		"not of the last":    "measured role=candidate stage=once metric=7 | " + pairs + `decided evidence=[{"stage":"once"}] => <nil> 7`,
		"the last two sides": pairs + pairs + `decided evidence=[{"stage":"once"},{"stage":"pairs"}] => 1 2`,
	}, func(t *testing.T, line string) any {
		s := replay(t, line)
		incumbent, candidate := s.Attempts[0].Sides()
		return fmt.Sprintln(incumbent.Metric, candidate.Metric)
	})
}

// TestAttemptHasItsRun: what was measured for it, the baseline of its run among that, how long that run took until CI
// had its say, what CI sent back, and that it was undone.
func TestAttemptHasItsRun(t *testing.T) {
	t.Parallel()
	s := replay(t, "started run_id=a iteration=1 minute=0 | measured run_id=a role=baseline | "+
		"measured run_id=a iteration=1 role=candidate stage=once | decided run_id=a iteration=1 outcome=accepted minute=2 | "+
		"started run_id=b iteration=2 | measured run_id=b role=baseline | "+
		"started run_id=c iteration=2 minute=5 | measured run_id=c iteration=2 role=candidate stage=once | "+
		"decided run_id=c iteration=2 outcome=pending-ci commit=c minute=6 | checked iteration=2 commit=c | "+
		"decided iteration=2 outcome=accepted commit=c minute=9 | "+`set key=undone value="2"`)
	var told []string
	for _, a := range s.Attempts {
		told = append(told, fmt.Sprintln(a.Outcome, len(a.Measured), a.Took.Minutes(), a.Waited, len(a.Checked)))
	}
	assert.Equal(t, []string{"accepted 2 2 false 0\n", "undone 1 1 true 1\n"}, told)
	assert.Equal(t, history.Accepted, s.Decision.Outcome, "what was decided stays")
	assert.Nil(t, s.Attempt(7).Decided)
}
