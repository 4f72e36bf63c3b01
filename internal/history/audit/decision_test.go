package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/org/autoloop/tests/testrepo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

// recorded plays a trial and writes what it measured and decided as the loop does.
func recorded(t testing.TB, rule decision.Rule, measure func(decision.Step) metric.Measurement) []history.Event {
	t.Helper()
	best := metric.FromInt(100)
	numbers := map[string]metric.Value{"case.a": metric.FromInt(1)}
	head := history.Head{Iteration: 1}
	list := []history.Event{
		&history.Started{Head: head},
		&history.Measured{Role: history.Baseline, Metric: &best, Samples: []metric.Value{best}, Numbers: numbers},
	}
	rule.Version = decision.RuleVersion
	trial := decision.NewTrial(decision.Standard{
		Rule: rule, Seed: "secret", Direction: metric.Higher, Best: &best, Cases: decision.RatesOf(numbers),
	})
	made, err := trial.Run(func(step decision.Step) (metric.Measurement, error) {
		m := measure(step)
		if step.WarmUp {
			return m, nil
		}
		at := slices.IndexFunc(list, func(e history.Event) bool {
			m, is := e.(*history.Measured)
			return is && m.Stage == step.Stage && string(m.Role) == string(step.Side)
		})
		if at < 0 {
			at = len(list)
			list = append(list, &history.Measured{Head: head, Role: step.Side, Stage: step.Stage})
		}
		e := measured(list, at)
		e.Samples, e.Numbers = append(e.Samples, *m.Metric), m.Numbers
		return m, nil
	})
	require.NoError(t, err)
	outcome := history.Rejected
	if made.Verdict == decision.Improved {
		outcome = history.Accepted
	}
	list = append(list, &history.Decided{
		Head: head, Outcome: outcome, Verdict: made.Verdict, Rule: &rule, Seed: "secret", Evidence: made.Evidence,
		Metric: made.Metric, PreviousBest: made.Previous, Best: made.Best, Delta: made.Delta, Direction: metric.Higher,
	}, &history.Finished{Head: head})
	for i, e := range list { // none shares anything with another
		line, err := history.Line(e)
		require.NoError(t, err)
		list[i], err = history.ParseEvent(line)
		require.NoError(t, err)
	}
	return list
}

// decided is the decision among recorded events.
func decided(list []history.Event) *history.Decided {
	return list[len(list)-2].(*history.Decided) //nolint:errcheck,forcetypeassert // recorded writes it there
}

// measured is a measurement among recorded events: the first is the baseline.
func measured(list []history.Event, at int) *history.Measured {
	return list[at].(*history.Measured) //nolint:errcheck,forcetypeassert // recorded writes them there
}

// forge changes fields of an event, by their JSON.
func forge(t *testing.T, e history.Event, change string) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(change), e))
}

func better(step decision.Step) metric.Measurement {
	value := metric.FromInt(100)
	if step.Side == decision.Candidate {
		value = metric.FromInt(int64(110 + step.Number))
	}
	return metric.Measurement{Metric: &value, Numbers: map[string]metric.Value{"case.a": metric.FromInt(1)}}
}

func worse(step decision.Step) metric.Measurement {
	m := better(step)
	if step.Side == decision.Candidate {
		m.Metric = number(fmt.Sprint(90 - step.Number))
	}
	return m
}

var (
	single = decision.Rule{Regime: decision.Single, Pairs: 8, Confidence: 0.95}
	noisy  = decision.Rule{Regime: decision.Noisy, Pairs: 8, Confidence: 0.95}
)

// TestForgedDecisionsAreFound: nothing of a decision, and of what was measured for it, can be changed alone.
func TestForgedDecisionsAreFound(t *testing.T) {
	t.Parallel()
	for name, measure := range map[string]func(decision.Step) metric.Measurement{"kept": better, "dropped": worse} {
		record := func() []history.Event { return recorded(t, noisy, measure) }
		require.Empty(t, findings(record()))
		_, err := audit.Decision(history.Replay(record()[:2]), history.Of[*history.Measured](record()[2:]),
			decided(record()))
		require.NoError(t, err)
		for _, change := range []string{
			`{"verdict":""}`, `{"verdict":"regressed"}`, `{"metric":12.5}`, `{"metric":null}`, `{"previous_best":12.5}`,
			`{"previous_best":null}`, `{"best":12.5}`, `{"best":null}`, `{"delta":"+1000"}`, `{"delta":""}`,
			`{"evidence":null}`, `{"direction":"lower"}`, `{"seed":""}`, `{"rule":{"version":78}}`,
			`{"rule":{"min_improvement":{"value":1000},"regime":"single"}}`,
			map[string]string{"kept": `{"outcome":"rejected"}`, "dropped": `{"outcome":"accepted"}`}[name],
		} {
			list := record()
			forge(t, decided(list), change)
			assert.NotEmpty(t, findings(list), "%s: %s", name, change)
		}
		text, err := json.Marshal(decided(record()).Evidence[0])
		require.NoError(t, err)
		var fields map[string]any
		require.NoError(t, json.Unmarshal(text, &fields))
		for field, value := range fields {
			list := record()
			change := map[string]any{field: fmt.Sprint(value) + "x"}
			if number, is := value.(float64); is {
				change[field] = number + 1
			}
			text, err := json.Marshal(change)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &decided(list).Evidence[0]))
			assert.NotEmpty(t, findings(list), "%s: %s", name, text)
		}
		for at := 2; at < len(record())-2; at++ {
			for change, by := range map[string]func(list []history.Event) []history.Event{
				"without its last run": func(list []history.Event) []history.Event {
					m := measured(list, at)
					m.Samples = m.Samples[:len(m.Samples)-1]
					return list
				},
				"without it": func(list []history.Event) []history.Event { return slices.Delete(list, at, at+1) },
				"turned round": func(list []history.Event) []history.Event {
					m := measured(list, at)
					m.Samples = []metric.Value{*number("300")}
					if m.Role == history.Candidate == (name == "kept") {
						m.Samples[0] = *number("-300")
					}
					m.Samples = slices.Repeat(m.Samples, 8)
					return list
				},
			} {
				assert.NotEmpty(t, findings(by(record())), "%s, measurement %d: %s", name, at, change)
			}
		}
	}
}

// TestDecisionNeedsMeasurements: what is not recorded is named by its side, stage and run.
func TestDecisionNeedsMeasurements(t *testing.T) {
	t.Parallel()
	const missing = "a measurement of the candidate (once)"
	for change, says := range map[string]string{
		`{"stage":"again"}`: missing, `{"role":"incumbent"}`: missing, `{"proposal":2}`: missing,
		`{"problem":"broke"}`: "",
	} {
		list := recorded(t, single, better)
		require.Empty(t, findings(list))
		forge(t, list[2], change)
		assert.Equal(t, says == "", len(findings(list)) == 0)
		assert.Contains(t, strings.Join(findings(list), "\n"), says, change)
	}
	list := recorded(t, single, better)
	assert.Contains(t, strings.Join(findings(slices.Insert(slices.Delete(list, 2, 3), 0, list[2])), "\n"), missing,
		"of a run before")
	list = recorded(t, noisy, better)
	for _, m := range history.Of[*history.Measured](list[2:]) {
		if m.Role == history.Candidate {
			m.Samples, m.Problem = m.Samples[:5], "it broke"
		}
	}
	assert.Contains(t, strings.Join(findings(list), "\n"), "run 6 of the candidate (pairs), and 5")

	list = recorded(t, single, better)
	forge(t, list[2], `{"proposal":3}`)
	forge(t, decided(list), `{"proposal":3}`)
	other := events(t, "measured iteration=1 role=candidate stage=once proposal=2 metric=1 samples=[1]")
	assert.Empty(t, findings(slices.Insert(list, 2, other...)), "its own proposal")
}

// TestOutcomesFitTheirVerdicts: what is kept is improved, and what is improved is kept unless CI is asked. Without a
// rule nothing is computed again.
func TestOutcomesFitTheirVerdicts(t *testing.T) {
	t.Parallel()
	for outcome, verdicts := range map[string]string{
		"accepted": "improved", "rejected": ",neutral,regressed", "inconclusive": "neutral",
		"error":      ",neutral,regressed",
		"pending-ci": ",improved,neutral,regressed", "ci-fix-exhausted": ",improved,neutral,regressed",
	} {
		for _, verdict := range []string{"", "improved", "neutral", "regressed"} {
			var says []string
			if !slices.Contains(strings.Split(verdicts, ","), verdict) {
				says = []string{fmt.Sprintf("the outcome is %s with the verdict %q", outcome, verdict)}
			}
			line := fmt.Sprintf("started iteration=1 | decided iteration=1 outcome=%s verdict=%q |"+
				"finished iteration=1", outcome, verdict)
			assert.Equal(t, says, findings(events(t, line)), line)
			r := audit.Of(audit.Records{Events: events(t, line)}, nil)
			assert.Equal(t, []int{1, 0}, []int{r.Decisions, r.Repeated})
		}
	}
	const again = "the decision cannot be computed again"
	const one = `started iteration=1 | decided iteration=1 outcome=rejected verdict=neutral executor={"agent":"x"} | ` +
		"finished iteration=1"
	text := func(line string) string {
		return strings.Join(found(audit.Ledger, events(t, line), audit.Records{}), "\n")
	}
	assert.Contains(t, text(one), again, "an executor alone makes no suite")
	suite := strings.Replace(one, "| decided", `| measured metric=1 role=baseline executor={"agent":"x"} | decided`, 1)
	assert.NotContains(t, text(suite), again, "a suite is compared task by task, which is not recorded")
	sampled := strings.Replace(suite, "| decided", `| measured role=candidate samples=[1] | decided`, 1)
	assert.Contains(t, text(sampled), again)
}

// TestRulesThatNoProgramAsksFor are neither followed nor go unnoticed, whatever was measured.
func TestRulesThatNoProgramAsksFor(t *testing.T) {
	t.Parallel()
	for _, change := range []string{
		`{"pairs":0}`, `{"pairs":-3}`, `{"pairs":1152921504606846976}`, `{"max_pairs":10001}`,
		`{"regime":"repeatable","pairs":0}`, `{"regime":"lenient"}`, `{"confidence":1}`, `{"confidence":0}`,
	} {
		list := recorded(t, noisy, better)
		forge(t, decided(list), `{"rule":`+change+`}`)
		golden.Row(t, change, strings.Join(findings(list), "\n"))
	}
	list := recorded(t, noisy, better)
	forge(t, decided(list), `{"rule":{"regime":"repeatable","pairs":800}}`)
	assert.NotContains(t, strings.Join(findings(list), ""), "no program asks")
	assert.Empty(t, findings(recorded(t, decision.Rule{Regime: decision.Single}, better)), "it needs neither")
}

// TestWarmUpHasOneSide: of a side whose warm-up went well nothing is known when the other's did not;
// the incumbent's failure decides nothing.
func TestWarmUpHasOneSide(t *testing.T) {
	t.Parallel()
	rule := fmt.Sprintf(` seed=s previous_best=100 best=100 direction=higher rule={"version":%d,`+
		`"regime":"noisy","pairs":8,"confidence":0.95}`, decision.RuleVersion)
	golden.Table(t, map[string]string{
		"the candidate's is turned down": "role=candidate rejected_reason=slow // outcome=rejected verdict=regressed",
		"the candidate's has no reason":  "role=candidate // outcome=rejected verdict=regressed",
		"the candidate's cannot be run":  "role=candidate problem=broke // outcome=rejected verdict=regressed",
		"the incumbent's is turned down": "role=incumbent rejected_reason=slow // outcome=rejected verdict=regressed",
		"the incumbent's is an error":    "role=incumbent rejected_reason=slow // outcome=error",
	}, func(t *testing.T, row string) any {
		measured, decided, _ := strings.Cut(row, " // ")
		return strings.Join(findings(events(t, "started iteration=1 | "+
			"measured role=baseline metric=100 samples=[100] direction=higher | measured iteration=1 stage=pairs "+
			measured+" | decided iteration=1 "+decided+rule+" | finished iteration=1")), "\n")
	})
}

// TestGuardrailsAreHeldAgain against the numbers of each run, and of iteration 0.
func TestGuardrailsAreHeldAgain(t *testing.T) {
	t.Parallel()
	rule := noisy
	rule.Guardrails = []decision.Guardrail{{Metric: "size", Direction: metric.Lower}}
	rule.Guardrails[0].MaxRegression.Value = *number("1")
	golden.Table(t, map[string]string{
		"iteration 0 has none":        " // 8 => false",
		"beyond what is allowed":      "3 // 8 => false",
		"just within":                 "4 // 8 => true",
		"better":                      "9 // 8 => true",
		"not printed by the last run": "9 // 7 => false",
		"never printed":               "9 // 0 => false",
	}, func(t *testing.T, row string) any {
		before, runs, _ := strings.Cut(row, " // ")
		count, err := strconv.Atoi(strings.TrimSpace(runs))
		require.NoError(t, err)
		list := recorded(t, rule, better)
		require.Equal(t, decision.Regressed, decided(list).Verdict, "the evaluation did not print it")
		forge(t, list[1], `{"guardrail_samples":{"size":[`+before+`]}}`)
		for _, m := range history.Of[*history.Measured](list[2:]) {
			if m.Role == history.Candidate {
				samples := slices.Repeat([]metric.Value{*number("5")}, count)
				m.GuardrailSamples = map[string][]metric.Value{"size": samples}
			}
		}
		return len(findings(list)) == 1 // the first stage is passed, and the next needs another measurement
	})
}

// TestKeptLossOfCaseIsFound.
func TestKeptLossOfCaseIsFound(t *testing.T) {
	t.Parallel()
	for _, regime := range []decision.Regime{decision.Single, decision.Repeatable} {
		rule := noisy
		rule.Regime, rule.NoCaseRegression = regime, true
		list := recorded(t, rule, func(step decision.Step) metric.Measurement {
			step.Number = 1
			m := better(step)
			if step.Side == decision.Candidate {
				m.Numbers["case.a"] = metric.MustValue("0.5")
			}
			return m
		})
		require.Equal(t, history.Rejected, decided(list).Outcome, regime)
		assert.Empty(t, findings(list), regime)
		forge(t, decided(list), `{"outcome":"accepted","verdict":"improved","best":111}`)
		assert.NotEmpty(t, findings(list), regime)
	}
}

// TestDecisionHasMeasuredIncumbent, neither more nor less; who keeps has measured another incumbent.
func TestDecisionHasMeasuredIncumbent(t *testing.T) {
	t.Parallel()
	const is = `{"disagreement":{"kind":"disagrees","value":94,"count":3,"beside":100,"of":7,"high":1}}`
	const lucky = `{"disagreement":{"kind":"said","words":"lucky"}}`
	rule := noisy
	rule.MaxPairs = 16
	golden.Table(t, map[string]string{
		"as it was measured": "94 // " + is,
		"nothing to say":     "100 // {}",
		"left out":           "94 // {}",
		"made up":            "100 // " + is,
		"something else":     "94 // " + lucky,
		"kept":               " // {}",
		"kept, and made up":  " // " + lucky,
	}, func(t *testing.T, row string) any {
		incumbent, record, _ := strings.Cut(row, " // ")
		list := recorded(t, rule, func(step decision.Step) metric.Measurement {
			if incumbent == "" {
				return better(step)
			}
			if step.Side == decision.Candidate {
				return metric.Measurement{Metric: number("80")}
			}
			return metric.Measurement{Metric: number(incumbent)}
		})
		forge(t, list[1], `{"samples":[100,99.5,99.7,99.9,100.1,100.3,100.5]}`)
		forge(t, decided(list), record)
		return strings.Join(findings(list), "\n")
	})
	once := &history.Measured{Role: history.Incumbent, Stage: decision.Once, Samples: []metric.Value{*number("94")}}
	before := history.Summary{Samples: []metric.Value{*number("100"), *number("100")}}
	assert.NotNil(t, audit.Disagreement(before, []*history.Measured{once}), "one run beside two that were the same")
}

// TestCIDecidesWaitingCommit for it, but for the outcome. Once a pull request was merged the candidate may wait again, as
// another commit on what was merged, which no decision made.
func TestCIDecidesWaitingCommit(t *testing.T) {
	t.Parallel()
	const merged = "set iteration=1 key=pull-ended commit=c0 | "
	const again = `{"outcome":"pending-ci","commit":"c2","incumbent":"main"`
	golden.Table(t, map[string]string{ // what is decided, and what came before and after the first decision
		"kept":                    `{"outcome":"accepted"}`,
		"turned down":             `{"outcome":"ci-fix-exhausted","commit":"","best":100}`,
		"another metric":          `{"outcome":"accepted","metric":1000}`,
		"another best":            `{"outcome":"accepted","best":1000}`,
		"another commit":          `{"outcome":"accepted","commit":"c2"}`,
		"no commit":               `{"outcome":"accepted","commit":""}`,
		"merged":                  again + "} //  // " + merged,
		"merged while asked":      again + "} // " + merged,
		"not merged":              again + "}",
		"merged, another number":  again + `,"metric":1000} //  // ` + merged,
		"merged, and let through": `{"outcome":"accepted"} //  // ` + merged,
	}, func(t *testing.T, row string) any {
		parts := append(strings.Split(row, " // "), "", "")
		list, last := recorded(t, single, better), recorded(t, single, better)
		forge(t, decided(list), `{"outcome":"pending-ci","commit":"c1","incumbent":"tip"}`)
		forge(t, decided(last), `{"commit":"c1","incumbent":"tip","run_id":"later"}`)
		forge(t, decided(last), parts[0])
		pushed := ""
		if strings.Contains(parts[0], "c2") {
			pushed = "pushed run_id=later iteration=1 commit=c2 | "
		}
		return strings.Join(findings(slices.Concat(
			list[:1],
			events(t, parts[1]),
			list[1:len(list)-1],
			events(
				t,
				"pushed iteration=1 commit=c1 | finished iteration=1 | "+parts[2]+"started run_id=later iteration=2",
			),
			last[len(last)-2:len(last)-1],
			events(t, pushed+"finished run_id=later iteration=1"),
		)), "\n")
	})
}

// FuzzAudit: an audit of anything ends, and each finding is one line.
func FuzzAudit(f *testing.F) {
	rule := noisy
	rule.CheckTooGood = true
	var text []byte
	for _, e := range recorded(f, rule, better) {
		line, err := history.Line(e)
		require.NoError(f, err)
		text = append(text, line...)
	}
	f.Add(text)
	f.Add(bytes.ReplaceAll(text, []byte("11"), []byte("-1e308")))
	f.Add(bytes.ReplaceAll(text, []byte(`"samples":[1`), []byte(`"samples":[],"x":[1`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		log, err := testrepo.Ledger(text)
		if err != nil {
			return
		}
		for _, finding := range audit.Of(audit.Records{Events: log.Events}, nil).Findings {
			assert.NotContains(t, finding.Message, "\n")
		}
	})
}
