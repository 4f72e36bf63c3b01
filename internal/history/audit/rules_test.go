package audit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/tests/golden"
)

// ruled has the findings about the rules of the decisions of a ledger, without those about what was measured for them.
func ruled(t *testing.T, line string, asked ...decision.Rule) string {
	t.Helper()
	var list []string
	for _, says := range found(audit.Ledger, events(t, line), audit.Records{}, asked...) {
		if !strings.Contains(says, "the decision ") && !strings.Contains(says, "the run ") {
			list = append(list, says)
		}
	}
	return strings.Join(list, "\n")
}

// TestRuleIsOneThatTheProgramAskedFor, in any version of its file: each row changes what is recorded of a rule.
func TestRuleIsOneThatTheProgramAskedFor(t *testing.T) {
	t.Parallel()
	const size, other = `"guardrails":[{"metric":"size"}`, `{"metric":"speed"}]`
	rule := func(changes ...string) (rule decision.Rule) {
		for _, change := range append([]string{`{"version":3,"regime":"repeatable","pairs":8,"confidence":0.95,` +
			`"min_improvement":{"value":2},"low":0,` + size + `],"no_case_regression":true}`}, changes...) {
			require.NoError(t, json.Unmarshal([]byte(change), &rule))
		}
		return rule
	}
	asked := []decision.Rule{rule(`{"pairs":20,"confidence":0.99}`), rule(), rule(`{"regime":"single"}`)}
	for change, is := range map[string]bool{
		`{}`: true, `{"max_pairs":16}`: true, `{"regime":"noisy"}`: true, `{"regime":"single"}`: true,
		`{"pairs":20,"confidence":0.99}`: true, `{"pairs":20}`: false, `{"version":2}`: false, `{"pairs":7}`: false,
		`{"confidence":0.9499}`: false, `{"min_improvement":{"value":1.99}}`: false, `{"low":-1}`: false,
		`{"min_improvement":{"value":2,"percent":true}}`: false, `{"low":null}`: false, `{"high":9}`: false,
		`{"no_case_regression":false}`: false, `{"check_too_good":true}`: false, `{` + size + "," + other + "}": false,
		`{"guardrails":[]}`: false, `{` + size[:len(size)-1] + `,"max_regression":{"value":1}}]}`: false,
	} {
		text, err := json.Marshal(rule(change))
		require.NoError(t, err)
		line := "decided iteration=1 outcome=rejected rule=" + string(text)
		assert.Empty(t, ruled(t, line), "nothing is known of what was asked for")
		assert.Equal(t, is, ruled(t, line, asked...) == "", change)
	}
}

// TestRuleAgainstEarlierRules: noise is not forgotten, and what is part of the evaluation does not change under
// it.
func TestRuleAgainstEarlierRules(t *testing.T) {
	t.Parallel()
	const (
		a       = "measured role=baseline metric=5 definition=a | "
		b       = "measured role=baseline metric=5 definition=b | "
		loud    = "measured role=baseline metric=5 definition=a noisy=true | "
		repeats = `decided iteration=2 outcome=rejected rule={"regime":"repeatable","confidence":0.95} | `
		noticed = `decided outcome=rejected noisy=true rule={"regime":"repeatable"} | `
		low     = `decided iteration=2 outcome=rejected rule={"regime":"single","low":1} | `
		high    = `decided iteration=2 outcome=rejected rule={"regime":"single","low":2} | `
		rails   = `decided iteration=2 outcome=rejected rule={"regime":"single","guardrails":[{"metric":"size"}]} | `
	)
	golden.Table(t, map[string]string{
		"without a rule":                     low + "decided outcome=rejected | " + low,
		"a noisy baseline":                   loud + repeats,
		"a noisy baseline, and single runs":  loud + low,
		"noise that a decision noticed":      a + noticed + repeats,
		"noise that it notices itself":       a + noticed,
		"noise before a new baseline":        loud + a + repeats,
		"another range":                      a + low + high,
		"no range any more":                  a + low + strings.Replace(low, `,"low":1`, "", 1),
		"another range, another evaluation":  a + low + b + high,
		"back to the first, and not its own": a + low + b + high + a + high,
		"back to the first":                  a + low + b + high + a + low,
		"the same range, written otherwise":  a + low + strings.Replace(low, "1}", "1.0}", 1),
		"a guardrail fewer":                  a + rails + strings.Replace(rails, `{"metric":"size"}`, "", 1),
		"another guardrail":                  a + rails + strings.Replace(rails, "size", "speed", 1),
		"a laxer guardrail": a + rails +
			strings.Replace(rails, `size"`, `size","max_regression":{"value":1}`, 1),
		"other pairs": a + low + strings.Replace(low, "1}", `1,"pairs":9}`, 1),
	}, func(t *testing.T, line string) any {
		return ruled(t, line)
	})
}

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

// TestReportSaysWhatWasNotLookedAt, also where the records agree.
func TestReportSaysWhatWasNotLookedAt(t *testing.T) {
	t.Parallel()
	golden.Line(t, (&audit.Report{Decisions: 2, Repeated: 1, Unseen: []string{"the clone is shallow"}}).String())
}
