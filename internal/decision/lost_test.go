package decision_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

// runsOf are the numbers of so many runs of a case, as "1 0.5 -": the last did
// not say it.
func runsOf(rates string) []map[string]metric.Value {
	var runs []map[string]metric.Value
	for rate := range strings.FieldsSeq(rates) {
		numbers := map[string]metric.Value{"case.other": metric.FromInt(1)}
		if rate != "-" {
			numbers["case.a"] = metric.MustValue(rate)
		}
		runs = append(runs, numbers)
	}
	return runs
}

func TestNoSingleRunLosesACase(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{
		"one bad run of four":                  "1 1 1 1 // 1 1 0.5 1 => []",
		"the last run is bad":                  "1 1 1 1 // 1 1 1 0 => []",
		"the first run is bad":                 "1 1 1 1 // 0 1 1 1 => []",
		"one good run of four is chance":       "1 1 1 1 // 0.5 0.5 0.5 1 => []",
		"one good run of eight is no chance":   "1 1 1 1 1 1 1 1 // 0.5 0.5 0.5 0.5 0.5 0.5 0.5 1 => [a]",
		"no good run":                          "1 1 1 1 // 0.9 0.9 0.9 0.9 => [a]",
		"as bad as the worst before":           "1 0.5 1 1 // 0.5 0.5 0.5 0.5 => []",
		"never as bad as that":                 "1 0.5 1 1 // 0.4 0.4 0.4 0.4 => [a]",
		"seldom bad before, always now":        "1 0.5 1 1 1 1 1 1 // 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 => [a]",
		"it passed in half of the runs":        "1 0.5 1 0.5 // 0 0 0 0 => []",
		"it passed once, and not in four":      "1 // 0.5 0.5 0.5 0.5 => [a]",
		"it passed once, and in one of four":   "1 // 0.5 0.5 0.5 1 => []",
		"it passed in four, and not once":      "1 1 1 1 // 0.5 => [a]",
		"runs that do not say it":              "1 1 1 1 // - - - - => [a]",
		"one run of many that does not say it": "1 1 1 1 // 1 1 - 1 => []",
		"more than half are whole":             "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 // 1 1 1 1 1 1 1 1 0 0 0 0 0 0 0 => []",
	}, func(_ *testing.T, row string) any { return lostOf(row) })
}

// TestLostCaseIsHeldAgainstAllCases: the chance of a false alarm is one for all cases, however
// many runs each side had. A row has the numbers of cases among which it is a loss.
func TestLostCaseIsHeldAgainstAllCases(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{
		// C(9,1)/C(16,8) is 9/12870
		"of eight, one good run left": "1 1 1 1 1 1 1 1 // 0.5 0.5 0.5 0.5 0.5 0.5 0.5 1 => [1 2 3 7 8 35]",
		// C(10,2)/12870
		"of eight, two left":   "1 1 1 1 1 1 1 1 // 0.5 0.5 0.5 0.5 0.5 0.5 1 1 => [1 2 3 7]",
		"eight beside four":    "1 1 1 1 1 1 1 1 // 0.5 0.5 0.5 1 => [1]",             // C(9,1)/C(12,4)
		"four beside eight":    "1 1 1 1 // 0.5 0.5 0.5 0.5 0.5 0.5 0.5 1 => [1 2]",   // C(5,1)/C(12,4)
		"sixteen beside three": "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 // 0.5 0.5 1 => [1]", // C(17,1)/C(19,3)
	}, func(_ *testing.T, row string) any {
		one, other, _ := strings.Cut(row, "//")
		var among []int
		for _, cases := range []int{1, 2, 3, 7, 8, 35, 36, 200} {
			before, now := decision.RatesOf(runsOf(one)...), decision.RatesOf(runsOf(other)...)
			delete(before, "case.other")
			for i := range cases - 1 {
				before[fmt.Sprintf("case.%d", i)], now[fmt.Sprintf("case.%d", i)] = numbers("1"), numbers("1")
			}
			if len(decision.LostCases(before, now)) == 1 {
				among = append(among, cases)
			}
		}
		return among
	})
}

func TestRatesOfRuns(t *testing.T) {
	t.Parallel()
	one := metric.FromInt(1)
	got := decision.RatesOf(
		map[string]metric.Value{"case.a": one, "size": one}, nil,
		map[string]metric.Value{"case.b": one, "case": one, "Case.c": one, "case.": one},
	)
	zero := metric.Value{}
	assert.Equal(t, decision.CaseRates{
		"case.a": {one, zero, zero}, "case.b": {zero, zero, one},
		"case.": {zero, zero, one},
	}, got)
	assert.Empty(t, decision.RatesOf())
	assert.Equal(t, []string{"a"},
		decision.LostCases(decision.CaseRates{"case.a": numbers("1.5 1")},
			decision.CaseRates{"case.a": numbers("0.99")}), "more than whole is whole")
}

// TestTextOfLostCases: their names are an evaluation's, and there may be many.
func TestTextOfLostCases(t *testing.T) {
	t.Parallel()
	said := func(names ...string) string {
		cases := decision.CaseRates{}
		for _, name := range names {
			cases["case."+name] = numbers("1")
		}
		standard := decision.Standard{Rule: decision.Rule{Regime: decision.Single}, Best: value("5"), Cases: cases}
		made, _ := play(standard, sides("5", "6"))
		assert.Len(t, made.Lost, len(names))
		return made.Reasons[len(made.Reasons)-1].String()
	}
	assert.Equal(t, "regressed-cases: a b", said("a \n\t b "))
	assert.Equal(t, "regressed-cases: "+strings.Repeat("é", 59)+"…", said(strings.Repeat("é", 61)))
	assert.Equal(t, "regressed-cases: "+strings.Repeat("é", 60), said(strings.Repeat("é", 60)))
	var many []string
	for i := range 21 {
		many = append(many, fmt.Sprintf("c%02d", i))
	}
	assert.True(t, strings.HasSuffix(said(many[:20]...), ", c19"))
	assert.True(t, strings.HasSuffix(said(many...), ", c19 and 1 more"))
}

// TestWhichCasesOfTheIncumbentCount: those that were measured beside the candidate, and
// only without any those on record.
func TestWhichCasesOfTheIncumbentCount(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{ // the regime, the incumbent's, the candidate's, and what is on record
		"single: the record":                  "single 0 0.5 1 => true",
		"single: a record that was not whole": "single 1 0.4 0.5 => false",
		"repeatable: what is beside it":       "repeatable 0.5 0.5 1 => false",
		"repeatable: whatever the record":     "repeatable 1 0.5 0.5 => true",
		"noisy: what is beside it":            "noisy 0.5 0.5 1 => false",
		"noisy: whatever the record":          "noisy 1 0.5 0.5 => true",
		"nothing on record":                   "single 1 0.5 => false",
	}, func(t *testing.T, row string) any {
		words := strings.Fields(row)
		standard := changed(repeatable("5"), `{"regime":"`+words[0]+`"}`)
		if len(words) > 3 {
			standard.Cases = decision.CaseRates{"case.a": numbers(words[3])}
		}
		measure := func(step decision.Step) metric.Measurement {
			m, rate := sides("5", "6")(step), words[2]
			if step.Side == decision.Incumbent {
				rate = words[1]
			}
			m.Numbers = map[string]metric.Value{"case.a": metric.MustValue(rate)}
			return m
		}
		made, _ := play(standard, measure)
		lost := len(made.Lost) == 1
		assert.Equal(t, decision.Improved, made.Verdict)
		assert.Equal(t, lost, strings.Contains(decision.Joined(made.Reasons), "regressed-cases: a"))
		standard.NoCaseRegression = true
		made, _ = play(standard, measure)
		assert.Equal(t, "6", made.Metric.String(), "what was measured is said")
		if lost {
			golden.Row(t, "no-case-regression forbids", told(made))
		}
		return lost
	})
}

// lostOf are the cases that runs such as "1 1 // 0.5 -" have lost.
func lostOf(row string) []string {
	before, now, _ := strings.Cut(row, "//")
	return decision.LostCases(decision.RatesOf(runsOf(before)...), decision.RatesOf(runsOf(now)...))
}
