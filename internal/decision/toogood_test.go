package decision_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
)

// TestTooGood: which gains are held, in both directions. A held one is measured
// without the candidate's work; here that gives what the incumbent gives.
func TestTooGood(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ standard, after, says string }{
		"a drop to zero":            {`{"direction":"lower","best":3}`, "0", "3 → 0 is a drop to zero"},
		"a drop to zero from below": {`{"best":-3}`, "0", "-3 → 0 is a drop to zero"},
		"from zero":                 {`{"best":0}`, "0.5", "0 → 0.5 is more than 10 times as much"},
		"beyond ten times, lower": {
			`{"direction":"lower","best":1000}`, "99", "1000 → 99 is a jump beyond 10 times",
		},
		"beyond ten times, higher":            {`{"best":9}`, "91", "9 → 91 is a jump"},
		"beyond ten times, with another sign": {`{"best":-1}`, "11", "-1 → 11 is a jump"},
		"beyond ten times after many gains": {
			`{"direction":"lower","best":1000,"gains":[500,500,500]}`, "99", "1000 → 99",
		},
		"ten times":    {`{"direction":"lower","best":1000}`, "100", ""},
		"another sign": {`{"best":-3}`, "4", ""},
		"ten times the largest gain, and more": {
			`{"best":100,"gains":[1,0.5,1]}`, "111", "of 11 is more than 10 times the largest",
		},
		"ten times the largest gain": {`{"best":100,"gains":[1,0.5,1]}`, "110", ""},
		"two gains are no history":   {`{"best":100,"gains":[1,1]}`, "111", ""},
		"the rate of a suite": {
			`{"best":0.01,"check_too_good":false}`, "0.9", "0.01 → 0.9 is a jump",
		},
		"the rate of a suite, from the beginning": {`{"best":0,"check_too_good":false}`, "0.9", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			standard := changed(changed(repeatable("0"), `{"check_too_good":true,"seed":"seed"}`), c.standard)
			emptied := 0
			d, _ := play(standard, func(step decision.Step) metric.Measurement {
				if step.Side == decision.Emptied {
					emptied++
				}
				return sides(standard.Best.String(), c.after)(decision.Step{Side: map[bool]decision.Side{
					true: decision.Candidate, false: decision.Incumbent,
				}[step.Side == decision.Candidate]})
			})
			require.Equal(t, decision.Improved, d.Verdict, "%v", d.Reasons)
			warning := decision.Joined(d.Warning)
			switch {
			case c.says == "":
				assert.Empty(t, d.Warning)
			case standard.CheckTooGood:
				assert.Contains(t, decision.Text(d.Held), c.says)
				assert.Equal(t, 1, emptied)
				assert.Contains(t, warning, decision.Text(d.Held)+"; ")
				assert.Contains(t, warning, "it gives "+standard.Best.String())
				return
			default:
				assert.Contains(t, warning, c.says)
				assert.Contains(t, warning, "whether the evaluation still measures")
			}
			assert.Empty(t, d.Held)
			assert.Zero(t, emptied)
		})
	}
}

// TestHeld: what the evaluation says without the candidate's work decides over a
// gain that is held. Each trial goes from 30 to 0 or, where numbers scatter, to
// about 1.
func TestHeld(t *testing.T) {
	t.Parallel()
	const fails = "exit 2" // in place of a number
	for name, c := range map[string]struct {
		standard         string
		emptied, garbled string
		runs             string // E and G, as they were taken
		rejected         bool
		says             string
	}{
		"emptied files fail": {
			`{}`, fails, "", "E", false, "evaluation notices: not scored: exit 2",
		},
		"emptied files give another number": {
			`{}`, "7", "", "E", false, "files emptied the evaluation notices:",
		},
		"what was measured once": {`{"regime":"single"}`, "7", "", "E", false, "it gives 7"},
		"a count of faults: broken files fail": {
			`{}`, "0", fails, "EG", false, "a syntax error in the changed files it",
		},
		"a count of faults: broken files have faults": {
			`{}`, "0", "31", "EG", false, "changed files it notices: it gives 31",
		},
		"a count of faults in emptied files": {
			`{"leavesnothing":true}`, "0", fails, "E", true, "emptied the evaluation gives 0 as well",
		},
		"an error that nobody sees": {
			`{}`, "0", "0", "EG", true, "changed files the evaluation gives 0 as",
		},
		"an error that nobody sees, measured once": {`{"regime":"single"}`, "0", "0", "EG", true, "gives 0 as well"},
		"a guardrail sees it": {
			`{"guardrails":[{"metric":"tests","direction":"higher"}],"initial":{"tests":[9]}}`, "0", "", "E", false,
			"guardrail tests",
		},
		"a time of files that do nothing": {
			`{"regime":"noisy"}`, "1.05", "", "EEE", true, "emptied the evaluation gives 1.05 as",
		},
		"a time of files that do less":   {`{"regime":"noisy"}`, "0.5", "", "EEE", false, "it gives 0.5"},
		"a time, and emptied files fail": {`{"regime":"noisy"}`, fails, "", "E", false, "not scored: exit 2"},
		"pairs that do not scatter":      {`{"regime":"noisy"}`, "0", fails, "EG", false, "not scored: exit 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const base = `{"direction":"lower","check_too_good":true,"seed":"seed"}`
			standard := changed(changed(repeatable("30"), base), c.standard)
			scatters := strings.HasPrefix(name, "a time")
			held, taken := "", 0
			d, _ := play(standard, func(step decision.Step) metric.Measurement {
				text, tests := "30", "9"
				switch step.Side { //nolint:exhaustive // the incumbent has 30
				case decision.Emptied:
					held, text, tests = held+"E", c.emptied, "0"
				case decision.Garbled:
					held, text = held+"G", c.garbled
				case decision.Candidate:
					text = "0"
					if taken++; scatters {
						text = "1.0" + strconv.Itoa(taken%5)
					}
				}
				if text == fails {
					return metric.Measurement{RejectedReason: fails}
				}
				m := scored(text)
				m.Numbers = map[string]metric.Value{"tests": metric.MustValue(tests)}
				return m
			})
			assert.Equal(t, c.runs, held)
			assert.NotEmpty(t, d.Held)
			if !c.rejected {
				require.Equal(t, decision.Improved, d.Verdict, "%v", d.Reasons)
				assert.Contains(t, decision.Joined(d.Warning), c.says)
				assert.NotContains(t, decision.Joined(d.Warning), "held", "it is kept")
				assert.Equal(t, d.Metric, d.Best)
				return
			}
			require.Equal(t, decision.Regressed, d.Verdict, "%v", d.Reasons)
			assert.Contains(t, d.Reasons[0].String(), "the number does not depend on what was")
			assert.Contains(t, d.Reasons[0].String(), c.says)
			assert.Equal(t, decision.Text(d.Held)+", so it was held", d.Reasons[1].String())
			assert.Equal(t, "30", d.Best.String())
			assert.NotEqual(t, "30", d.Metric.String())
			assert.Empty(t, d.Warning)
		})
	}
}

// TestEqualNumbersBesideScatteringOnesAreFlagged: eight or more, which change no decision
// and are not measured again.
func TestEqualNumbersBesideScatteringOnesAreFlagged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		candidate, incumbent string // with a dot for numbers that scatter
		tooGood, flagged     bool
	}{
		"equal beside scattering ones": {"20", "30.", false, true},
		"and too good":                 {"1", "30.", true, true},
		"equal beside equal ones":      {"20", "30", false, false},
		"both scatter":                 {"20.", "30.", false, false},
		"eight are enough":             {"20", "30.", false, true},
	} {
		standard := changed(noisy("30"), `{"direction":"lower","seed":"seed","check_too_good":true}`)
		if name == "eight are enough" {
			standard.Pairs = 4
		}
		taken := 0
		d, runs := play(standard, func(step decision.Step) metric.Measurement {
			taken++
			text := c.incumbent
			if step.Side == decision.Candidate {
				text = c.candidate
			}
			if strings.HasSuffix(text, ".") {
				text += strconv.Itoa(taken % 7)
			}
			return scored(text)
		})
		require.Equal(t, decision.Improved, d.Verdict, "%v", d.Reasons)
		warning := decision.Joined(d.Warning)
		assert.Equal(t, c.flagged, strings.Contains(warning,
			fmt.Sprintf("all %d numbers of the candidate are %s", 2*standard.Pairs, c.candidate)), name)
		assert.Equal(t, c.tooGood, strings.Contains(warning, "a jump"), name)
		assert.Equal(t, 2+2*standard.Pairs, strings.Count(strings.ToUpper(runs), "C"), "two stages with a warm-up each")
	}
}
