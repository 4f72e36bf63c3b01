package audit_test

import (
	"strings"
	"testing"

	"github.com/org/autoloop/tests/golden"
)

// TestStepsOfAnIterationFollowEachOther: a run starts one iteration, measures, decides, says what it pushed, and
// finishes. What is missing or not in its place is found, and said once.
func TestStepsOfAnIterationFollowEachOther(t *testing.T) {
	t.Parallel()
	const (
		start   = "started run_id=a iteration=1 | "
		dropped = "decided run_id=a iteration=1 outcome=rejected | "
		kept    = "decided run_id=a iteration=1 outcome=accepted verdict=improved commit=c1 | "
		waits   = "decided run_id=a iteration=1 outcome=pending-ci verdict=improved commit=c1 | "
		push    = "pushed run_id=a iteration=1 commit=c1 | "
		end     = "finished run_id=a iteration=1 | "
		next    = "started run_id=b iteration=2 | "
	)
	golden.Table(t, map[string]string{
		"no event":                    "",
		"dropped":                     start + "measured run_id=a iteration=1 role=candidate |" + dropped + end,
		"kept":                        start + kept + push + end,
		"stopped":                     start,
		"not finished":                start + dropped,
		"finished by who":             start + dropped + "finished run_id=b iteration=1",
		"finished another":            start + dropped + "finished run_id=a iteration=2",
		"finished too late":           start + dropped + next + end,
		"not pushed":                  start + kept + end,
		"neither finished nor pushed": start + kept,
		"another commit pushed":       start + kept + "pushed run_id=a commit=c2 |" + end,
		"pushed without a decision":   start + push + end,
		"pushed before the decision":  start + push + kept + end,
		"pushed twice":                start + kept + push + push + end,
		"a long commit":               start + "pushed run_id=a commit=c123456789abcdef",
		"waits for CI":                start + waits + push,
		"CI lets it through": start + waits + push + end + next + strings.Replace(kept, "run_id=a", "run_id=b", 1) +
			"finished run_id=b iteration=1",
		"CI does, and it does not end": start + waits + push + end + next + kept,
		"nobody started": "measured run_id=x | decided run_id=x iteration=1 outcome=rejected" +
			" | finished run_id=x iteration=1",
		"nobody started two":           "measured run_id=x | checked run_id=y | measured run_id=x | measured run_id=y",
		"a proposal of nobody":         "proposed run_id=x",
		"what people say needs no run": "paused | resumed | completed | set key=k | answered | finished run_id=x",
		"a run goes on":                start + start + "started run_id=b iteration=1 | started run_id=c iteration=2",
		"a run begins two":             start + next + "started run_id=a iteration=3",
		"a median": start +
			"measured run_id=a metric=5 samples=[9,5,1] | measured run_id=a metric=1.50 samples=[2,1]",
		"no samples or number": start + "measured run_id=a metric=5 | measured run_id=a samples=[5]",
		"no median":            start + "measured run_id=a role=incumbent stage=pairs metric=4 samples=[1,2,9]",
		"no median in its last digit": start +
			"measured run_id=a role=baseline metric=9007199254740993 samples=[9007199254740992]",
	}, func(t *testing.T, line string) any {
		return strings.Join(findings(events(t, line)), "\n")
	})
}
