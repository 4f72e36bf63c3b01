package audit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/metric"
)

func number(text string) *metric.Value {
	value := metric.MustValue(text)
	return &value
}

// ruleFindings are the findings about the rules of decisions, without those about what
// was measured for them.
func ruleFindings(asked []decision.Rule, events ...history.Event) []string {
	var list []string
	for _, found := range audit.Of(audit.Records{Events: events}, asked).Findings {
		measured := slices.ContainsFunc([]string{
			"the decision ", "the run ", "nothing can be decided",
			"the verdict is ",
		}, func(begins string) bool { return strings.HasPrefix(found.Message, begins) })
		if found.Where == audit.Ledger && !measured {
			list = append(list, found.Message)
		}
	}
	return list
}

func ruled(iteration int, rule decision.Rule) *history.Decided {
	written := rule
	return &history.Decided{
		Head: history.Head{Iteration: iteration}, Outcome: history.Rejected, Rule: &written,
		Seed: "secret",
	}
}

const thanAsked = " in the record, and no version of the program file asks for less than that"

// TestARuleThatIsWeakerThanTheProgramAsksFor changes one setting at a time of a rule that
// is as the program asks for.
func TestARuleThatIsWeakerThanTheProgramAsksFor(t *testing.T) {
	t.Parallel()
	allowing := func(text string, percent bool) decision.Allowance {
		return decision.Allowance{Value: metric.MustValue(text), Percent: percent}
	}
	rail, speed := decision.Guardrail{Metric: "size", Direction: metric.Lower},
		decision.Guardrail{Metric: "speed", Direction: metric.Higher, MaxRegression: allowing("5", true)}
	asked := func() decision.Rule {
		return decision.Rule{
			Version: decision.RuleVersion, Regime: decision.Noisy, Pairs: 8, MaxPairs: 16, Confidence: 0.95,
			MinImprovement: decision.Allowance{Value: metric.FromInt(2)},
			Low:            number("0"), High: number("100"), Guardrails: []decision.Guardrail{rail, speed},
			NoCaseRegression: true, CheckTooGood: true,
		}
	}
	for name, c := range map[string]struct {
		asked, recorded func(*decision.Rule)
		says            string
	}{
		"as asked for": {nil, nil, ""},
		"single runs": {
			nil, func(r *decision.Rule) { r.Regime = decision.Single },
			"single runs decide",
		},
		"single runs, of a repeatable one": {
			func(r *decision.Rule) { r.Regime = decision.Repeatable },
			func(r *decision.Rule) { r.Regime = decision.Single }, "single runs decide",
		},
		"single runs, as asked for": {
			func(r *decision.Rule) { r.Regime = decision.Single },
			func(r *decision.Rule) { r.Regime = decision.Single }, "",
		},
		"repeatable, where it is noisy": {
			nil, func(r *decision.Rule) { r.Regime = decision.Repeatable },
			"single runs decide until two differ",
		},
		"noisy, where it repeats itself":    {func(r *decision.Rule) { r.Regime = decision.Repeatable }, nil, ""},
		"noisy, where single runs would do": {func(r *decision.Rule) { r.Regime = decision.Single }, nil, ""},
		"less confidence": {
			nil, func(r *decision.Rule) { r.Confidence = 0.9499 },
			"the confidence is 0.9499",
		},
		"more confidence": {nil, func(r *decision.Rule) { r.Confidence = 0.99 }, ""},
		"less confidence of single runs": {
			func(r *decision.Rule) { r.Regime = decision.Single },
			func(r *decision.Rule) { r.Regime, r.Confidence = decision.Single, 0 }, "",
		},
		"less confidence of a repeatable one": {
			func(r *decision.Rule) { r.Regime = decision.Repeatable },
			func(r *decision.Rule) { r.Regime, r.Confidence = decision.Repeatable, 0.5 }, "the confidence is 0.5",
		},
		"fewer pairs": {nil, func(r *decision.Rule) { r.Pairs = 7 }, "7 pairs decide"},
		"more pairs":  {nil, func(r *decision.Rule) { r.Pairs = 9 }, ""},
		"fewer pairs of a repeatable one": {
			func(r *decision.Rule) { r.Regime = decision.Repeatable },
			func(r *decision.Rule) { r.Regime, r.Pairs = decision.Repeatable, 1 }, "",
		},
		"a smaller gain": {
			nil,
			func(r *decision.Rule) { r.MinImprovement.Value = metric.MustValue("1.99") }, "the smallest gain is 1.99",
		},
		"a greater gain": {
			nil,
			func(r *decision.Rule) { r.MinImprovement.Value = metric.FromInt(3) }, "",
		},
		"the same gain with another last digit": {
			nil,
			func(r *decision.Rule) { r.MinImprovement.Value = metric.MustValue("2.00") }, "",
		},
		"any gain in place of an amount": {
			nil,
			func(r *decision.Rule) { r.MinImprovement = decision.Allowance{Percent: true} }, "the smallest gain is 0%",
		},
		"any gain in place of a part": {
			func(r *decision.Rule) { r.MinImprovement.Percent = true },
			func(r *decision.Rule) { r.MinImprovement = decision.Allowance{} }, "the smallest gain is 0",
		},
		"a part in place of an amount": {
			nil,
			func(r *decision.Rule) { r.MinImprovement = decision.Allowance{Value: metric.FromInt(1), Percent: true} },
			"the smallest gain is 1%",
		},
		"any gain, as asked for": {func(
			r *decision.Rule,
		) {
			r.MinImprovement = decision.Allowance{Percent: true}
		}, func(r *decision.Rule) { r.MinImprovement = decision.Allowance{} }, ""},
		"too good is believed": {
			nil, func(r *decision.Rule) { r.CheckTooGood = false },
			"a gain that is too good is not held",
		},
		"too good is held and nobody asked": {func(r *decision.Rule) { r.CheckTooGood = false }, nil, ""},
		"cases may be lost": {
			nil, func(r *decision.Rule) { r.NoCaseRegression = false },
			"cases may get worse",
		},
		"no case may be lost and nobody asked": {func(r *decision.Rule) { r.NoCaseRegression = false }, nil, ""},
		"one guardrail fewer": {
			nil, func(r *decision.Rule) { r.Guardrails = r.Guardrails[:1] },
			"there are 1 guardrails",
		},
		"one guardrail more": {
			nil,
			func(r *decision.Rule) { r.Guardrails = append(r.Guardrails, rail) }, "",
		},
		"another guardrail": {
			nil, func(r *decision.Rule) { r.Guardrails[1].Metric = "space" },
			"there is no guardrail of speed, where higher is better",
		},
		"a guardrail turned round": {
			nil,
			func(r *decision.Rule) { r.Guardrails[1].Direction = metric.Lower },
			"there is no guardrail of speed, where higher is better",
		},
		"guardrails in another order": {
			nil,
			func(r *decision.Rule) { r.Guardrails = []decision.Guardrail{speed, rail} }, "",
		},
		"a guardrail that allows more": {
			nil,
			func(r *decision.Rule) { r.Guardrails[1].MaxRegression = allowing("5.1", true) },
			"the guardrail of speed allows 5.1%",
		},
		"a guardrail that allows less": {
			nil,
			func(r *decision.Rule) { r.Guardrails[1].MaxRegression = allowing("4", true) }, "",
		},
		"a guardrail that allows an amount": {
			nil,
			func(r *decision.Rule) { r.Guardrails[1].MaxRegression = allowing("1", false) },
			"the guardrail of speed allows 1",
		},
		"a guardrail that allows nothing": {
			nil,
			func(r *decision.Rule) { r.Guardrails[1].MaxRegression = allowing("0", false) }, "",
		},
		"a guardrail that allowed nothing": {
			nil,
			func(r *decision.Rule) { r.Guardrails[0].MaxRegression = allowing("0.001", false) },
			"the guardrail of size allows 0.001",
		},
		"a lower end": {
			nil, func(r *decision.Rule) { r.Low = number("-1") },
			"the metric-range is [-1, 100]",
		},
		"a higher end": {
			nil, func(r *decision.Rule) { r.High = number("101") },
			"the metric-range is [0, 101]",
		},
		"a lower end, and no upper": {
			func(r *decision.Rule) { r.High = nil },
			func(r *decision.Rule) { r.Low, r.High = number("-1"), nil }, "the metric-range is [-1, …]",
		},
		"a narrower range": {
			nil,
			func(r *decision.Rule) { r.Low, r.High = number("1"), number("99") }, "",
		},
		"no lower end": {
			nil, func(r *decision.Rule) { r.Low = nil },
			"there is no metric-range",
		},
		"no upper end": {
			nil, func(r *decision.Rule) { r.High = nil },
			"there is no metric-range",
		},
		"a range that nobody asked for": {func(r *decision.Rule) { r.Low, r.High = nil, nil }, nil, ""},
		"two faults are one finding": {
			nil, func(r *decision.Rule) { r.Low, r.Pairs = nil, 2 },
			"2 pairs decide",
		},
		"fewer pairs at most, as it once was so": {nil, func(r *decision.Rule) { r.MaxPairs = 0 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, is := asked(), asked()
			if c.asked != nil {
				c.asked(&want)
			}
			if c.recorded != nil {
				c.recorded(&is)
			}
			var says []string
			if c.says != "" {
				says = []string{c.says + thanAsked}
			}
			assert.Equal(t, says, ruleFindings([]decision.Rule{want}, ruled(1, is)))
			assert.Empty(t, ruleFindings(nil, ruled(1, is)), "nothing is known of what was asked for")
		})
	}
}

// TestARuleOfAnEarlierProgramFile: a decision may be by what any version of the program
// file asked for. What it lacks is said against the newest.
func TestARuleOfAnEarlierProgramFile(t *testing.T) {
	t.Parallel()
	pairs := func(n int) decision.Rule {
		return decision.Rule{Regime: decision.Noisy, Pairs: n, Confidence: 0.95}
	}
	confident := pairs(20)
	confident.Confidence = 0.99
	for name, c := range map[string]struct {
		pairs int
		asked []decision.Rule
		says  []string
	}{
		"as the newest":  {20, []decision.Rule{pairs(20), pairs(8), pairs(4)}, nil},
		"as one between": {8, []decision.Rule{pairs(20), pairs(8), pairs(12)}, nil},
		"as the oldest":  {4, []decision.Rule{pairs(20), pairs(8), pairs(4)}, nil},
		"weaker than each": {
			3,
			[]decision.Rule{pairs(20), pairs(8), pairs(4)},
			[]string{"3 pairs decide" + thanAsked},
		},
		"weaker in another way": {
			8,
			[]decision.Rule{confident, pairs(12)},
			[]string{"the confidence is 0.95" + thanAsked},
		},
		"weaker than the only":        {8, []decision.Rule{confident}, []string{"the confidence is 0.95" + thanAsked}},
		"a program file without runs": {1, []decision.Rule{{}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.says, ruleFindings(c.asked, ruled(1, pairs(c.pairs))))
		})
	}
}

// TestARuleBesideThoseBeforeIt: noise is not forgotten, and what is
// part of the evaluation does not change under it.
func TestARuleBesideThoseBeforeIt(t *testing.T) {
	t.Parallel()
	const (
		changed = "its guardrails or its range are not those of the decisions before it, under the same evaluation"
		noisy   = "the evaluation was known to be noisy, and the rule takes it for one that repeats itself"
	)
	plainly := decision.Rule{Regime: decision.Single}
	bounded := func(low string, rails ...decision.Guardrail) decision.Rule {
		return decision.Rule{Regime: decision.Single, Low: number(low), Guardrails: rails}
	}
	baseline := func(definition string) *history.Measured {
		return &history.Measured{Role: history.Baseline, Metric: number("5"), Definition: definition}
	}
	loud := baseline("a")
	loud.Noisy = true
	noticed := ruled(1, decision.Rule{Regime: decision.Repeatable})
	noticed.Noisy = true
	repeats := decision.Rule{Regime: decision.Repeatable, Confidence: 0.95}
	size, speed := decision.Guardrail{Metric: "size"}, decision.Guardrail{Metric: "speed"}
	for name, c := range map[string]struct {
		events []history.Event
		says   []string
	}{
		"without a rule": {[]history.Event{
			ruled(1, plainly),
			&history.Decided{Outcome: history.Rejected}, ruled(3, plainly),
		}, nil},
		"a noisy baseline": {[]history.Event{loud, ruled(1, repeats)}, []string{noisy}},
		"a noisy baseline, and pairs": {[]history.Event{
			loud,
			ruled(1, decision.Rule{Regime: decision.Noisy}),
		}, nil},
		"a noisy baseline, and single runs": {[]history.Event{loud, ruled(1, plainly)}, nil},
		"noise that a decision noticed": {
			[]history.Event{baseline("a"), noticed, ruled(2, repeats)},
			[]string{noisy},
		},
		"noise that it notices itself": {[]history.Event{baseline("a"), noticed}, nil},
		"noise before a new baseline":  {[]history.Event{loud, baseline("a"), ruled(2, repeats)}, nil},
		"another range": {[]history.Event{
			baseline("a"), ruled(1, bounded("0")),
			ruled(2, bounded("1")),
		}, []string{changed}},
		"no range any more": {[]history.Event{
			baseline("a"), ruled(1, bounded("0")),
			ruled(2, plainly),
		}, []string{changed}},
		"another range, another evaluation": {[]history.Event{
			baseline("a"), ruled(1, bounded("0")), baseline("b"),
			ruled(2, bounded("1")),
		}, nil},
		"back to the first, and not its own": {[]history.Event{
			baseline("a"), ruled(1, bounded("0")), baseline("b"),
			ruled(2, bounded("1")), baseline("a"), ruled(3, bounded("1")),
		}, []string{changed}},
		"back to the first": {[]history.Event{
			baseline("a"), ruled(1, bounded("0")), baseline("b"),
			ruled(2, bounded("1")), baseline("a"), ruled(3, bounded("0")),
		}, nil},
		"the same range, written otherwise": {[]history.Event{
			baseline("a"), ruled(1, bounded("1")),
			ruled(2, bounded("1.0")),
		}, nil},
		"a guardrail fewer": {[]history.Event{
			baseline("a"), ruled(1, bounded("0", size, speed)),
			ruled(2, bounded("0", size)),
		}, []string{changed}},
		"another guardrail": {[]history.Event{
			baseline("a"), ruled(1, bounded("0", size)),
			ruled(2, bounded("0", speed)),
		}, []string{changed}},
		"a laxer guardrail": {[]history.Event{
			baseline("a"), ruled(1, bounded("0", size)),
			ruled(2, bounded("0", decision.Guardrail{
				Metric:        "size",
				MaxRegression: decision.Allowance{Value: metric.FromInt(1)},
			})),
		}, []string{changed}},
		"other pairs": {[]history.Event{
			baseline("a"),
			ruled(1, decision.Rule{Pairs: 8, Regime: decision.Noisy}),
			ruled(2, decision.Rule{Pairs: 9, Regime: decision.Noisy}),
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.says, ruleFindings(nil, c.events...))
		})
	}
}
