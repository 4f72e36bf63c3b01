package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// TestEveryForgedNumberIsFound changes one number, text or list at a time of a decision,
// and of what was measured for it: none of them can be changed alone.
func TestEveryForgedNumberIsFound(t *testing.T) {
	t.Parallel()
	worse := func(step decision.Step) metric.Measurement {
		m := better(step)
		if step.Side == decision.Candidate {
			value := metric.FromInt(int64(90 - step.Number))
			m.Metric = &value
		}
		return m
	}
	for name, measure := range map[string]func(decision.Step) metric.Measurement{"kept": better, "dropped": worse} {
		rule := decision.Rule{Regime: decision.Noisy, Pairs: 8, Confidence: 0.95}
		record := func() []history.Event { return recorded(t, rule, measure) }
		require.Empty(t, findings(record()))
		other := metric.MustValue("12.5")
		changes := map[string]func(*history.Decided){
			"the verdict": func(e *history.Decided) {
				e.Verdict = map[decision.Verdict]decision.Verdict{
					"improved": "neutral",
					"neutral":  "regressed",
				}[e.Verdict]
			},
			"no verdict":        func(e *history.Decided) { e.Verdict = "" },
			"the metric":        func(e *history.Decided) { e.Metric = &other },
			"no metric":         func(e *history.Decided) { e.Metric = nil },
			"the previous best": func(e *history.Decided) { e.PreviousBest = &other },
			"no previous best":  func(e *history.Decided) { e.PreviousBest = nil },
			"the best":          func(e *history.Decided) { e.Best = &other },
			"no best":           func(e *history.Decided) { e.Best = nil },
			"the delta":         func(e *history.Decided) { e.Delta = "+1000" },
			"no delta":          func(e *history.Decided) { e.Delta = "" },
			"no evidence":       func(e *history.Decided) { e.Evidence = nil },
			"one comparison":    func(e *history.Decided) { e.Evidence = e.Evidence[1:] },
			"one more": func(e *history.Decided) {
				e.Evidence = append(slices.Clone(e.Evidence), e.Evidence[0])
			},
			"the direction": func(e *history.Decided) { e.Direction = metric.Lower },
			"the outcome": func(e *history.Decided) {
				e.Outcome = map[history.Outcome]history.Outcome{
					history.Accepted: history.Rejected,
					history.Rejected: history.Accepted,
				}[e.Outcome]
			},
			"the rule": func(e *history.Decided) {
				e.Rule.MinImprovement.Value = metric.FromInt(
					1000)
				e.Rule.Regime = "single"
			},
		}
		evidence := reflect.TypeFor[decision.Evidence]()
		for _, of := range reflect.VisibleFields(evidence) {
			if of.Anonymous {
				continue
			}
			changes["the evidence: "+of.Name] = func(e *history.Decided) {
				e.Evidence = slices.Clone(e.Evidence)
				field := reflect.ValueOf(&e.Evidence[0]).Elem().FieldByIndex(of.Index)
				switch value := field.Interface().(type) {
				case decision.Stage:
					field.SetString(string(value) + "x")
				case int:
					field.SetInt(int64(value) + 1)
				case float64:
					field.SetFloat(value / 2)
				case metric.Value:
					field.Set(reflect.ValueOf(value.Add(metric.MustValue("0.5"))))
				default:
					t.Fatalf("a field of another kind: %s", of.Name)
				}
			}
		}
		for what, change := range changes {
			events := record()
			e := decided(events)
			rule := *e.Rule
			e.Rule = &rule
			change(e)
			assert.NotEmpty(t, findings(events), "%s: %s", name, what)
		}
		for place, m := range trials(record()) {
			what := fmt.Sprintf("%s: the %s (%s)", name, m.Role, m.Stage)
			last := trials(record())[place]
			last.Samples = last.Samples[:len(last.Samples)-1]
			events := record()
			trials(events)[place].Samples = last.Samples
			assert.NotEmpty(t, findings(events), "%s without its last run", what)
			events = slices.DeleteFunc(record(), func(e history.Event) bool {
				other, is := e.(*history.Measured)
				return is && other.Stage == m.Stage && other.Role == m.Role && other.Stage != ""
			})
			assert.NotEmpty(t, findings(events), "without %s", what)
			events = record()
			for i := range trials(events)[place].Samples {
				trials(events)[place].Samples[i] = metric.FromInt(100)
			}
			if m.Role == history.Candidate {
				assert.NotEmpty(t, findings(events), "%s as good as what it is compared with", what)
			}
		}
	}
}

// TestWhatADecisionNeeds: what is not recorded is named by its side, stage and run.
func TestWhatADecisionNeeds(t *testing.T) {
	t.Parallel()
	single := decision.Rule{Regime: decision.Single, Pairs: 8, Confidence: 0.95}
	noisy := decision.Rule{Regime: decision.Noisy, Pairs: 8, Confidence: 0.95}
	for name, c := range map[string]struct {
		rule   decision.Rule
		change func([]history.Event) []history.Event
		says   string
	}{
		"the measurement": {
			single, func(events []history.Event) []history.Event { return slices.Delete(events, 2, 3) },
			"the decision needs a measurement of the candidate (once), which is not recorded",
		},
		"another stage's": {single, func(
			events []history.Event,
		) []history.Event {
			trials(events)[0].Stage = "again"
			return events
		}, "the decision needs a measurement of the candidate (once), which is not recorded"},
		"another side's": {single, func(events []history.Event) []history.Event {
			trials(events)[0].Role = history.Incumbent
			return events
		}, "the decision needs a measurement of the candidate (once), which is not recorded"},
		"another proposal's": {
			single,
			func(events []history.Event) []history.Event { trials(events)[0].Proposal = 2; return events },
			"the decision needs a measurement of the candidate (once), which is not recorded",
		},
		"every run": {noisy, func(events []history.Event) []history.Event {
			for _, m := range trials(events) {
				if m.Role == history.Candidate {
					m.Samples, m.Problem = m.Samples[:5], "it broke"
				}
			}
			return events
		}, "the decision needs run 6 of the candidate (pairs), and 5 are recorded"},
		"of a measurement that began before the run": {single, func(events []history.Event) []history.Event {
			return slices.Insert(slices.Delete(events, 2, 3), 0, events[2])
		}, "the decision needs a measurement of the candidate (once), which is not recorded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := recorded(t, c.rule, better)
			require.Empty(t, findings(events))
			assert.Contains(t, findings(c.change(events)), c.says)
		})
	}
	t.Run("its own proposal", func(t *testing.T) {
		t.Parallel()
		events := recorded(t, single, better)
		trials(events)[0].Proposal, decided(events).Proposal = 3, 3
		other := *trials(events)[0]
		worse := metric.FromInt(1)
		other.Proposal, other.Metric, other.Samples = 2, &worse, []metric.Value{worse}
		assert.Empty(t, findings(slices.Insert(events, 2, history.Event(&other))))
	})
}

// TestOutcomesFitTheirVerdicts: what is kept is improved, and what is improved is kept
// unless CI is asked.
func TestOutcomesFitTheirVerdicts(t *testing.T) {
	t.Parallel()
	const improved, neutral, regressed = "improved", "neutral", "regressed"
	allowed := map[history.Outcome][]string{
		history.Accepted: {improved}, history.Rejected: {"", neutral, regressed}, history.Inconclusive: {neutral},
		history.Error:          {"", neutral, regressed},
		history.PendingCI:      {"", improved, neutral, regressed},
		history.CIFixExhausted: {"", improved, neutral, regressed},
	}
	for outcome, verdicts := range allowed {
		for _, verdict := range []string{"", improved, neutral, regressed} {
			var says []string
			if !slices.Contains(verdicts, verdict) {
				says = []string{fmt.Sprintf("the outcome is %s with the verdict %q", outcome, verdict)}
			}
			if verdict != "" { // what compared something was decided by a rule
				says = append(says, `the decision cannot be computed again: no program asks for the regime ""`)
			}
			e := &history.Decided{
				Head: history.Head{Run: "a", Iteration: 1}, Outcome: outcome,
				Verdict: decision.Verdict(verdict),
			}
			events := []history.Event{&history.Started{Head: e.Head}, e, &history.Finished{Head: e.Head}}
			assert.Equal(t, says, findings(events), "%s, %s", outcome, verdict)
			r := reported(events)
			assert.Equal(t, []int{1, 0}, []int{r.Decisions, r.Repeated}, "there is no rule to repeat it by")
			e.Executor = &history.Executor{Agent: "x"}
			assert.Equal(t, says, findings(events), "an executor alone makes no suite")
			// A suite is compared task by task, which is not recorded.
			one := metric.MustValue("1")
			suite := &history.Measured{Head: e.Head, Role: history.Baseline, Executor: e.Executor, Metric: &one}
			for _, says := range findings(slices.Insert(events, 1, history.Event(suite))) {
				assert.NotContains(t, says, "computed again")
			}
		}
	}
}

// TestRulesThatNoProgramAsksFor: a rule that somebody made up ends neither the audit nor
// goes unnoticed, whatever was measured.
func TestRulesThatNoProgramAsksFor(t *testing.T) {
	t.Parallel()
	const again = "the decision cannot be computed again: "
	for name, c := range map[string]struct {
		change func(*decision.Rule)
		says   string
	}{
		"no pairs": {
			func(r *decision.Rule) { r.Pairs = 0 },
			again + "no program asks for 0 pairs, 0 at most",
		},
		"pairs below zero": {
			func(r *decision.Rule) { r.Pairs = -3 },
			again + "no program asks for -3 pairs, 0 at most",
		},
		"endless pairs": {
			func(r *decision.Rule) { r.Pairs = 1 << 60 },
			again + "no program asks for 1152921504606846976 pairs, 0 at most",
		},
		"endless pairs in all": {
			func(r *decision.Rule) { r.MaxPairs = 1 << 60 },
			again + "no program asks for 8 pairs, 1152921504606846976 at most",
		},
		"no pairs for noise": {
			func(r *decision.Rule) { r.Regime, r.Pairs = "repeatable", 0 },
			again + "no program asks for 0 pairs, 0 at most",
		},
		"no regime": {func(r *decision.Rule) { r.Regime = "" }, again + `no program asks for the regime ""`},
		"another regime": {
			func(r *decision.Rule) { r.Regime = "lenient" },
			again + `no program asks for the regime "lenient"`,
		},
		"certainty": {
			func(r *decision.Rule) { r.Confidence = 1 },
			again + "no program asks for a confidence of 1",
		},
		"no confidence": {
			func(r *decision.Rule) { r.Confidence = 0 },
			again + "no program asks for a confidence of 0",
		},
		"less than none": {
			func(r *decision.Rule) { r.Confidence = -2 },
			again + "no program asks for a confidence of -2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := recorded(t, decision.Rule{Regime: decision.Noisy, Pairs: 8, Confidence: 0.95}, better)
			c.change(decided(events).Rule)
			assert.Equal(t, []string{c.says}, findings(events))
		})
	}
	single := recorded(t, decision.Rule{Regime: decision.Single}, better)
	assert.Empty(t, findings(single), "a plain comparison needs neither pairs nor confidence")
}

// TestAnAuditOfAnythingEnds changes what a ledger says of a decision and of its
// measurements by chance: the audit finds something or nothing, and comes to its end.
func TestAnAuditOfAnythingEnds(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(1, 2))
	values := []string{
		"0", "-1", "1", "3", "8", "1e9", "9007199254740993", "null", `""`, `"single"`, `"repeatable"`,
		`"noisy"`, `"held"`, `"once"`, `"candidate"`, `"accepted"`, "[]", "[0,1]", "{}", "true", "0.5",
		"1e308", "-1e308",
	}
	base := recorded(t, decision.Rule{
		Regime: decision.Noisy, Pairs: 8, MaxPairs: 16, Confidence: 0.95, CheckTooGood: true,
		Guardrails: []decision.Guardrail{{Metric: "case.a", Direction: metric.Higher}},
	}, better)
	var lines [][]byte
	for _, e := range base {
		line, err := history.Line(e)
		require.NoError(t, err)
		lines = append(lines, line)
	}
	audited := 0
	for range 400 {
		changed := slices.Clone(lines)
		for range 1 + chance.IntN(3) {
			at := chance.IntN(len(changed))
			changed[at] = withAnother(chance, changed[at], values)
		}
		if chance.IntN(4) == 0 {
			at := chance.IntN(len(changed))
			changed = slices.Delete(changed, at, at+1)
		}
		log, err := history.Parse(bytes.Join(changed, nil))
		if err != nil {
			continue
		}
		audited++
		for _, finding := range reported(log.Events).Findings {
			require.NotContains(t, finding.Message, "\n")
		}
	}
	assert.Greater(t, audited, 30)
}

// withAnother is a line in which one value, of any depth, is another.
func withAnother(chance *rand.Rand, line []byte, values []string) []byte {
	type span struct{ from, to int }
	var spans []span
	for at := 0; at < len(line); at++ {
		if line[at] != ':' || at+1 == len(line) {
			continue
		}
		var value json.RawMessage
		if json.NewDecoder(bytes.NewReader(line[at+1:])).Decode(&value) == nil {
			spans = append(spans, span{at + 1, at + 1 + len(value)})
		}
	}
	if len(spans) == 0 {
		return line
	}
	s := spans[chance.IntN(len(spans))]
	return slices.Concat(line[:s.from], []byte(values[chance.IntN(len(values))]), line[s.to:])
}

// TestWarmUpsAreNotRecorded: of a side whose warm-up went well nothing is known when the
// other's did not; the incumbent's failure decides nothing.
func TestWarmUpsAreNotRecorded(t *testing.T) {
	t.Parallel()
	best := metric.FromInt(100)
	rule := decision.Rule{Version: decision.RuleVersion, Regime: decision.Noisy, Pairs: 8, Confidence: 0.95}
	trial := func(role history.Role, outcome history.Outcome, change func(*history.Measured)) []history.Event {
		head := history.Head{Run: "a", Iteration: 1}
		measured := &history.Measured{Head: head, Role: role, Stage: "pairs", RejectedReason: "too slow"}
		change(measured)
		e := &history.Decided{
			Head: head, Outcome: outcome, Rule: &rule, Seed: "secret", PreviousBest: &best,
			Best: &best, Direction: metric.Higher,
		}
		if outcome != history.Error {
			e.Verdict = decision.Regressed
		}
		return []history.Event{
			&history.Started{Head: head}, &history.Measured{
				Head: head, Role: history.Baseline, Metric: &best,
				Samples: []metric.Value{best}, Direction: metric.Higher,
			}, measured, e,
			&history.Finished{Head: head, Outcome: outcome},
		}
	}
	none := func(*history.Measured) {}
	for name, c := range map[string]struct {
		events []history.Event
		says   []string
	}{
		"the candidate's is turned down": {trial(history.Candidate, history.Rejected, none), nil},
		"the candidate's is null, and no reason": {trial(history.Candidate, history.Rejected,
			func(m *history.Measured) { m.RejectedReason = "" }), nil},
		"the candidate's cannot be run": {
			trial(history.Candidate, history.Rejected,
				func(m *history.Measured) { m.Problem = "it broke" }),
			[]string{"the decision needs run 1 of the candidate (pairs), and 0 are recorded"},
		},
		"the incumbent's is turned down": {
			trial(history.Incumbent, history.Rejected, none),
			[]string{"nothing can be decided (the incumbent, measured again, is not scored: too slow), and the " +
				"record says rejected"},
		},
		"the incumbent's is an error": {trial(history.Incumbent, history.Error, none), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.says, findings(c.events))
		})
	}
}

// TestGuardrailsAreHeldAgain against the numbers of each run, and of iteration 0.
func TestGuardrailsAreHeldAgain(t *testing.T) {
	t.Parallel()
	rule := decision.Rule{
		Regime: decision.Noisy, Pairs: 8, Confidence: 0.95,
		Guardrails: []decision.Guardrail{{
			Metric: "size", Direction: metric.Lower,
			MaxRegression: decision.Allowance{Value: metric.FromInt(1)},
		}},
	}
	for name, c := range map[string]struct {
		before string // of iteration 0, "" for none
		size   string // of each of the candidate's runs
		runs   int    // of which it was printed
		passed bool
	}{
		"iteration 0 has none":        {"", "5", 8, false},
		"beyond what is allowed":      {"3", "5", 8, false},
		"just within":                 {"4", "5", 8, true},
		"better":                      {"9", "5", 8, true},
		"not printed by the last run": {"9", "5", 7, false},
		"never printed":               {"9", "5", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := recorded(t, rule, better)
			require.Equal(t, decision.Regressed, decided(events).Verdict, "the evaluation did not print it")
			if c.before != "" {
				measured(events).GuardrailSamples = map[string][]metric.Value{"size": slices.Repeat(
					[]metric.Value{*number(c.before)}, 8)}
			}
			for _, m := range trials(events) {
				if m.Role == history.Candidate {
					m.GuardrailSamples = map[string][]metric.Value{"size": slices.Repeat(
						[]metric.Value{*number(c.size)}, c.runs)}
				}
			}
			if !c.passed {
				assert.Empty(t, findings(events))
				return
			}
			assert.Equal(t, []string{"the decision needs a measurement of the incumbent (confirmation), which is not " +
				"recorded"}, findings(events), "the first stage is passed")
		})
	}
}
