package decision_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

// TestTooGood: which gains are held, in both directions. A held one is measured
// without the candidate's work; here that gives what the incumbent gives.
func TestTooGood(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{ // what is on record, and the candidate's number
		"a drop to zero":                          `{"direction":"lower","best":3} 0`,
		"a drop to zero from below":               `{"best":-3} 0`,
		"from zero":                               `{"best":0} 0.5`,
		"beyond ten times, lower":                 `{"direction":"lower","best":1000} 99`,
		"beyond ten times, higher":                `{"best":9} 91`,
		"beyond ten times, with another sign":     `{"best":-1} 11`,
		"beyond ten times after many gains":       `{"direction":"lower","best":1000,"gains":[500,500,500]} 99`,
		"ten times":                               `{"direction":"lower","best":1000} 100`,
		"another sign":                            `{"best":-3} 4`,
		"ten times the largest gain, and more":    `{"best":100,"gains":[1,0.5,1]} 111`,
		"ten times the largest gain":              `{"best":100,"gains":[1,0.5,1]} 110`,
		"two gains are no history":                `{"best":100,"gains":[1,1]} 111`,
		"the rate of a suite":                     `{"best":0.01,"check_too_good":false} 0.9`,
		"the rate of a suite, from the beginning": `{"best":0,"check_too_good":false} 0.9`,
	}, func(_ *testing.T, row string) any {
		record, after, _ := strings.Cut(row, " ")
		standard := changed(changed(repeatable("0"), `{"check_too_good":true,"seed":"seed"}`), record)
		d, runs := play(standard, func(step decision.Step) metric.Measurement {
			if step.Side == decision.Candidate {
				return scored(after)
			}
			return scored(standard.Best.String())
		})
		return runs + " " + told(d)
	})
}

// TestHeld: what the evaluation says without the candidate's work decides over a
// gain that is held. Each trial goes from 30 to 0 or, where numbers scatter, to
// about 1.
func TestHeld(t *testing.T) {
	t.Parallel()
	const noisy, single, tests = `{"regime":"noisy"} `, `{"regime":"single"} `,
		`{"guardrails":[{"metric":"tests","direction":"higher"}],"initial":{"tests":[9]}} `
	golden.Table(t, map[string]string{ // the rule, and what emptied and garbled files give; * for numbers that scatter
		"emptied files fail":                          "{} exit -",
		"emptied files give another number":           "{} 7 -",
		"what was measured once":                      single + "7 -",
		"a count of faults: broken files fail":        "{} 0 exit",
		"a count of faults: broken files have faults": "{} 0 31",
		"a count of faults in emptied files":          `{"leavesnothing":true} 0 exit`,
		"an error that nobody sees":                   "{} 0 0",
		"an error that nobody sees, measured once":    single + "0 0",
		"a guardrail sees it":                         tests + "0 -",
		"a time of files that do nothing":             noisy + "1.05 - *",
		"a time of files that do less":                noisy + "0.5 - *",
		"a time, and emptied files fail":              noisy + "exit - *",
		"pairs that do not scatter":                   noisy + "0 exit",
	}, func(_ *testing.T, row string) any {
		words, taken := strings.Fields(row), 0
		standard := changed(repeatable("30"), `{"direction":"lower","check_too_good":true,"seed":"seed"}`)
		d, runs := play(changed(standard, words[0]), func(step decision.Step) metric.Measurement {
			text, tests := "30", "9"
			switch step.Side { //nolint:exhaustive // the incumbent has 30
			case decision.Emptied:
				text, tests = words[1], "0"
			case decision.Garbled:
				text = words[2]
			case decision.Candidate:
				text = "0"
				if taken++; len(words) > 3 {
					text = "1.0" + strconv.Itoa(taken%5)
				}
			}
			if text == "exit" {
				return metric.Measurement{RejectedReason: text}
			}
			m := scored(text)
			m.Numbers = map[string]metric.Value{"tests": metric.MustValue(tests)}
			return m
		})
		return runs + " " + told(d)
	})
}

// TestEqualNumbersBesideScatteringOnesAreFlagged: eight or more, which change no decision
// and are not measured again.
func TestEqualNumbersBesideScatteringOnesAreFlagged(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{ // the candidate and the incumbent, with a dot for numbers that scatter
		"equal beside scattering ones": "{} 20 30.",
		"and too good":                 "{} 1 30.",
		"equal beside equal ones":      "{} 20 30",
		"both scatter":                 "{} 20. 30.",
		"eight are enough":             `{"pairs":4} 20 30.`,
	}, func(_ *testing.T, row string) any {
		words, taken := strings.Fields(row), 0
		standard := changed(noisy("30"), `{"direction":"lower","seed":"seed","check_too_good":true}`)
		d, runs := play(changed(standard, words[0]), func(step decision.Step) metric.Measurement {
			taken++
			text := words[2]
			if step.Side == decision.Candidate {
				text = words[1]
			}
			if strings.HasSuffix(text, ".") {
				text += strconv.Itoa(taken % 7)
			}
			return scored(text)
		})
		return runs + " " + told(d)
	})
}
