package history_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/tests/golden"
)

// TestStanding is where the newest iteration stands: a run that only waits begins none, and one that ended without a
// decision changes nothing.
func TestStanding(t *testing.T) {
	t.Parallel()
	const (
		accepted = "decided iteration=1 outcome=accepted commit=a | "
		pending  = "started iteration=2 | decided iteration=2 outcome=pending-ci commit=c | finished iteration=2 | "
		checked  = "checked iteration=2 commit=c | "
	)
	golden.Table(t, map[string]string{
		"no event":            " =>  0 0",
		"a baseline":          "measured role=baseline metric=1 =>  0 0",
		"begun":               "started iteration=1 => begun 1 0",
		"begun again":         "started iteration=1 | started iteration=2 => begun 2 0",
		"begun after another": accepted + "started iteration=2 => begun 2 0",
		"ended without decision": accepted + "started iteration=2 | started iteration=3 | finished iteration=3" +
			" => accepted 1 0",
		"the first ended so":     "started iteration=1 | finished iteration=1 =>  1 0",
		"accepted":               accepted + " => accepted 1 0",
		"rejected":               "decided iteration=1 outcome=rejected => rejected 1 0",
		"inconclusive":           "decided iteration=1 outcome=inconclusive => rejected 1 0",
		"of a later version":     "decided iteration=1 outcome=later => rejected 1 0",
		"failed":                 "decided iteration=1 outcome=error => failed 1 0",
		"waiting for CI":         pending + " => waiting for CI 2 0",
		"waiting in a later run": pending + "started iteration=3 | finished iteration=3 => waiting for CI 2 0",
		"CI let it through":      pending + "decided iteration=2 outcome=accepted commit=c => accepted 2 0",
		"a fix that failed":      pending + checked + " => waiting for CI 2 1",
		"a fix that was pushed": pending + checked + "decided iteration=2 outcome=pending-ci commit=d" +
			" => waiting for CI 2 1",
		"a fix of another":        pending + "checked iteration=1 => waiting for CI 2 0",
		"CI turned it down":       pending + checked + "decided iteration=2 outcome=ci-fix-exhausted => rejected 2 1",
		"fixes of the one before": pending + checked + "decided iteration=3 outcome=pending-ci => waiting for CI 3 0",
	}, func(t *testing.T, line string) any {
		s := replay(t, line).Standing
		assert.Equal(t, s.Phase == history.PhaseWaitingForCI, s.Waiting() != nil)
		return fmt.Sprintln(s.Phase, s.Iteration, s.Fixes())
	})
}

// TestStandingHasCIFindings of earlier commits of the iteration, and since when the present one waits; who goes on
// from it changes nothing in it.
func TestStandingHasCIFindings(t *testing.T) {
	t.Parallel()
	const a = "decided iteration=1 outcome=pending-ci commit=a minute=1 | pushed minute=2 commit=a | " +
		"checked iteration=1 commit=a signature=build | "
	s := replay(t, a).Standing
	assert.False(t, s.FailedBefore("build"), "it is the same commit")
	assert.Equal(t, noon.Add(1*time.Minute), s.WaitsSince)
	s = replay(t, a+"resumed minute=3").Standing
	assert.Equal(t, noon.Add(3*time.Minute), s.WaitsSince, "a person sent it back")
	list := events(t, a+"decided iteration=1 outcome=pending-ci commit=b minute=4 | "+
		"decided iteration=1 outcome=pending-ci "+
		"commit=b minute=5 | checked iteration=1 commit=z signature=lint | checked iteration=1 commit=z signature=test")
	s = history.Replay(list[:5]).Standing
	assert.True(t, s.FailedBefore("build"))
	assert.Equal(t, noon.Add(4*time.Minute), s.WaitsSince, "the first record of the commit counts")
	lint := history.Replay(list[:6]).Standing
	test := history.Replay(append(list[:5:5], list[6])).Standing
	assert.Equal(t, []bool{false, true, false, false, true}, []bool{
		s.FailedBefore("lint"), lint.FailedBefore("lint"), lint.FailedBefore("test"), test.FailedBefore("lint"),
		test.FailedBefore("test"),
	})
}

// TestStandingHasCandidates: what was measured of each last, and why the last of all failed.
func TestStandingHasCandidates(t *testing.T) {
	t.Parallel()
	const (
		one    = "measured iteration=3 proposal=1 role=candidate metric=5 | "
		two    = "measured iteration=3 proposal=2 role=candidate metric=6 | "
		failed = "measured iteration=3 proposal=2 role=candidate metric=0 problem=broke output=printed | "
	)
	golden.Table(t, map[string]string{
		"nothing":               " => ",
		"one":                   one + " => 5",
		"the last of it":        one + "measured iteration=3 proposal=1 role=candidate metric=7 => 7",
		"two":                   one + two + " => 5 6",
		"another iteration":     one + "measured iteration=4 proposal=1 role=candidate metric=6 => ",
		"another before":        "measured iteration=2 proposal=1 role=candidate metric=6 | " + one + " => 5",
		"the incumbent":         one + "measured iteration=3 proposal=1 role=incumbent metric=9 => 5",
		"the last failed":       one + failed + " => 5 0 printed",
		"an earlier one failed": failed + one + " => 5 0",
		"one is decided on":     one + failed + "decided iteration=3 proposal=1 => 5 0 printed",
	}, func(t *testing.T, line string) any {
		s := replay(t, line).Standing
		of := func(proposal int) string {
			if m := s.Measured(3, proposal); m != nil {
				return m.Metric.String()
			}
			return ""
		}
		return fmt.Sprintln(of(1), of(2), s.Failed(3), s.Failed(2))
	})
}
