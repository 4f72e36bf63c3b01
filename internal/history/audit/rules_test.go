package audit_test

import (
	"encoding/json"
	"fmt"
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

// TestRuleIsNotWeakerThanProgram: each row changes what is asked for, and what is recorded, of a strict
// rule.
func TestRuleIsNotWeakerThanProgram(t *testing.T) {
	t.Parallel()
	const strict = `{"version":3,"regime":"noisy","pairs":8,"max_pairs":16,"confidence":0.95,` +
		`"min_improvement":{"value":2},"low":0,"high":100,"guardrails":[{"metric":"size","direction":"lower"},` +
		`{"metric":"speed","direction":"higher","max_regression":{"value":5,"percent":true}}],` +
		`"no_case_regression":true,"check_too_good":true}`
	const speed, size = `{"metric":"speed","direction":"higher"`, `{"metric":"size","direction":"lower"`
	golden.Table(t, map[string]string{
		"as asked for":                        "{} // {}",
		"single runs":                         `{} // {"regime":"single"}`,
		"single runs, of a repeatable one":    `{"regime":"repeatable"} // {"regime":"single"}`,
		"single runs, as asked for":           `{"regime":"single"} // {"regime":"single","confidence":0}`,
		"repeatable, where it is noisy":       `{} // {"regime":"repeatable"}`,
		"noisy, where it repeats itself":      `{"regime":"repeatable"} // {}`,
		"noisy, where single runs would do":   `{"regime":"single"} // {}`,
		"less confidence":                     `{} // {"confidence":0.9499}`,
		"more confidence":                     `{} // {"confidence":0.99}`,
		"less confidence of a repeatable one": `{"regime":"repeatable"} // {"regime":"repeatable","confidence":0.5}`,
		"fewer pairs":                         `{} // {"pairs":7}`,
		"more pairs":                          `{} // {"pairs":9}`,
		"fewer pairs of a repeatable one":     `{"regime":"repeatable"} // {"regime":"repeatable","pairs":1}`,
		"fewer pairs at most":                 `{} // {"max_pairs":0}`,
		"a smaller gain":                      `{} // {"min_improvement":{"value":1.99}}`,
		"a greater gain":                      `{} // {"min_improvement":{"value":3}}`,
		"the same gain, written otherwise":    `{} // {"min_improvement":{"value":2.00}}`,
		"a part in place of an amount":        `{} // {"min_improvement":{"value":9,"percent":true}}`,
		"any gain in place of a part": `{"min_improvement":{"percent":true}}` +
			` // {"min_improvement":{"value":0}}`,
		"any gain, as asked for": `{"min_improvement":{"value":0,"percent":true}}` +
			` // {"min_improvement":{"value":0}}`,
		"too good is believed":                 `{} // {"check_too_good":false}`,
		"too good is held and nobody asked":    `{"check_too_good":false} // {}`,
		"cases may be lost":                    `{} // {"no_case_regression":false}`,
		"no case may be lost and nobody asked": `{"no_case_regression":false} // {}`,
		"one guardrail fewer":                  `{} // {"guardrails":[` + speed + "}]}",
		"guardrails more, in another order":    `{} // {"guardrails":[` + speed + "}," + size + "}," + size + "}]}",
		"another guardrail": `{} // {"guardrails":[` + size +
			`},{"metric":"space","direction":"higher"}]}`,
		"a guardrail turned round": `{} // {"guardrails":[` + size +
			`},{"metric":"speed","direction":"lower"}]}`,
		"a guardrail that allows more": `{} // {"guardrails":[` + size + "}," + speed +
			`,"max_regression":{"value":5.1,"percent":true}}]}`,
		"a guardrail that allows as much": `{} // {"guardrails":[` + size + "}," + speed +
			`,"max_regression":{"value":5,"percent":true}}]}`,
		"a guardrail that allows an amount": `{} // {"guardrails":[` + size + "}," + speed +
			`,"max_regression":{"value":1}}]}`,
		"a guardrail that allowed nothing": `{} // {"guardrails":[` + size + `,"max_regression":{"value":0.001}},` +
			speed + "}]}",
		"a lower end":                   `{} // {"low":-1}`,
		"a higher end":                  `{} // {"high":101}`,
		"a lower end, and no upper":     `{"high":null} // {"low":-1,"high":null}`,
		"a narrower range":              `{} // {"low":1,"high":99}`,
		"no lower end":                  `{} // {"low":null}`,
		"no upper end":                  `{} // {"high":null}`,
		"a range that nobody asked for": `{"low":null,"high":null} // {}`,
		"two faults are one finding":    `{} // {"low":null,"pairs":2}`,
	}, func(t *testing.T, row string) any {
		asked, recorded, _ := strings.Cut(row, " // ")
		changed := func(by string) (rule decision.Rule) {
			require.NoError(t, json.Unmarshal([]byte(strict), &rule))
			var change decision.Rule
			require.NoError(t, json.Unmarshal([]byte(by), &rule))
			require.NoError(t, json.Unmarshal([]byte(by), &change))
			if change.Guardrails != nil {
				rule.Guardrails = change.Guardrails
			}
			return rule
		}
		is, err := json.Marshal(changed(recorded))
		require.NoError(t, err)
		line := "decided iteration=1 outcome=rejected rule=" + string(is)
		assert.Empty(t, ruled(t, line), "nothing is known of what was asked for")
		return ruled(t, line, changed(asked))
	})
}

// TestRuleOfAnyProgramFile that there was; what it lacks is said against the newest.
func TestRuleOfAnyProgramFile(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{ // the pairs that are recorded, and those that each file asked for
		"as the newest":         "20 of 20 8 4",
		"as one between":        "8 of 20 8 12",
		"as the oldest":         "4 of 20 8 4",
		"weaker than each":      "3 of 20 8 4",
		"weaker in another way": "8 of 20.99 12", // with a confidence of 0.99
	}, func(t *testing.T, row string) any {
		is, of, _ := strings.Cut(row, " of ")
		var asked []decision.Rule
		for _, text := range strings.Fields(of) {
			rule := decision.Rule{Regime: decision.Noisy, Confidence: 0.95}
			text, sure := strings.CutSuffix(text, ".99")
			if sure {
				rule.Confidence = 0.99
			}
			_, err := fmt.Sscan(text, &rule.Pairs)
			require.NoError(t, err)
			asked = append(asked, rule)
		}
		return ruled(t, `decided iteration=1 outcome=rejected rule={"regime":"noisy","confidence":0.95,"pairs":`+is+"}",
			asked...)
	})
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
