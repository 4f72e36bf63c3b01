package decision_test

import (
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
	for name, c := range map[string]struct {
		direction       metric.Direction
		before, after   string
		gains           []string
		suite           bool
		held, onlyWarns string
	}{
		"a drop to zero": {
			direction: metric.Lower, before: "3", after: "0",
			held: "3 → 0 is a drop to zero",
		},
		"a drop to zero from below": {
			direction: metric.Higher, before: "-3", after: "0",
			held: "-3 → 0 is a drop to zero",
		},
		"from zero": {
			direction: metric.Higher, before: "0", after: "0.5",
			held: "0 → 0.5 is more than 10 times as much",
		},
		"beyond ten times, lower": {
			direction: metric.Lower, before: "1000", after: "99",
			held: "1000 → 99 is a jump beyond 10 times",
		},
		"beyond ten times, higher": {
			direction: metric.Higher, before: "9", after: "91",
			held: "9 → 91 is a jump",
		},
		"beyond ten times, with another sign": {
			direction: metric.Higher, before: "-1", after: "11",
			held: "-1 → 11 is a jump",
		},
		"beyond ten times after many gains": {
			direction: metric.Lower, before: "1000", after: "99",
			gains: []string{"500", "500", "500"}, held: "1000 → 99",
		},
		"ten times":    {direction: metric.Lower, before: "1000", after: "100"},
		"another sign": {direction: metric.Higher, before: "-3", after: "4"},
		"ten times the largest gain, and more": {
			direction: metric.Higher, before: "100", after: "111",
			gains: []string{"1", "0.5", "1"}, held: "a gain of 11 is more than 10 times the largest before it (1)",
		},
		"two gains are no history": {
			direction: metric.Higher, before: "100", after: "111",
			gains: []string{"1", "1"},
		},
		"the rate of a suite": {
			direction: metric.Higher, before: "0.01", after: "0.9", suite: true,
			onlyWarns: "0.01 → 0.9 is a jump",
		},
		"the rate of a suite, from the beginning": {direction: metric.Higher, before: "0", after: "0.9", suite: true},
	} {
		t.Run(name, func(t *testing.T) {
			standard := repeatable(c.before)
			standard.Direction, standard.Seed, standard.CheckTooGood = c.direction, "seed", !c.suite
			for _, gain := range c.gains {
				standard.Gains = append(standard.Gains, metric.MustValue(gain))
			}
			runs := map[decision.Side]int{}
			d, _ := play(standard, func(step decision.Step) metric.Measurement {
				runs[step.Side]++
				if step.Side == decision.Candidate {
					return scored(c.after)
				}
				return scored(c.before)
			})
			require.Equal(t, decision.Improved, d.Verdict, "%v", d.Reasons)
			switch {
			case c.held != "":
				assert.Contains(t, decision.Text(d.Held), c.held)
				assert.Equal(t, 1, runs[decision.Emptied])
				assert.Contains(t, decision.Joined(d.Warning),
					decision.Text(d.Held)+"; with the changed files emptied the evaluation notices: it gives "+c.before)
			case c.onlyWarns != "":
				assert.Contains(t, decision.Joined(d.Warning), c.onlyWarns)
				assert.Contains(t, decision.Joined(d.Warning),
					"look whether the evaluation still measures what it should")
			default:
				assert.Empty(t, d.Warning)
			}
			if c.held == "" {
				assert.Empty(t, d.Held)
				assert.Zero(t, runs[decision.Emptied])
			}
		})
	}
}

// TestHeld: what the evaluation says without the candidate's work decides over a
// gain that is held. Each trial goes from 30 to 0 or, where numbers scatter, to
// about 1.
func TestHeld(t *testing.T) {
	failed := metric.Measurement{RejectedReason: "exit 2"}
	for name, c := range map[string]struct {
		regime           decision.Regime
		scatter          bool // the candidate's numbers
		emptied, garbled metric.Measurement
		leavesNothing    bool
		guardrail        bool   // the emptied files break one
		runs             string // E and G, as they were taken
		rejected         bool
		says             string
	}{
		"emptied files fail": {
			emptied: failed, runs: "E",
			says: "with the changed files emptied the evaluation notices: not scored: exit 2",
		},
		"emptied files give another number": {
			emptied: scored("7"), runs: "E",
			says: "with the changed files emptied the evaluation notices: it gives 7",
		},
		"what was measured once": {
			regime: decision.Single, emptied: scored("7"), runs: "E",
			says: "it gives 7",
		},
		"a count of faults: broken files fail": {
			emptied: scored("0"), garbled: failed, runs: "EG",
			says: "with a syntax error in the changed files it notices: not scored: exit 2",
		},
		"a count of faults: broken files have faults": {
			emptied: scored("0"), garbled: scored("31"), runs: "EG",
			says: "with a syntax error in the changed files it notices: it gives 31",
		},
		"a count of faults in emptied files": {
			emptied: scored("0"), garbled: failed, leavesNothing: true,
			runs: "E", rejected: true, says: "with the changed files emptied the evaluation gives 0 as well",
		},
		"an error that nobody sees": {
			emptied: scored("0"), garbled: scored("0"), runs: "EG",
			rejected: true, says: "with a syntax error in the changed files the evaluation gives 0 as well",
		},
		"an error that nobody sees, measured once": {
			regime: decision.Single, emptied: scored("0"),
			garbled: scored("0"), runs: "EG", rejected: true, says: "gives 0 as well",
		},
		"a guardrail sees it": {
			emptied: scored("0"), guardrail: true, runs: "E",
			says: "guardrail tests",
		},
		"a time of files that do nothing": {
			regime: decision.Noisy, scatter: true, emptied: scored("1.05"),
			runs: "EEE", rejected: true, says: "with the changed files emptied the evaluation gives 1.05 as well",
		},
		"a time of files that do less": {
			regime: decision.Noisy, scatter: true, emptied: scored("0.5"),
			runs: "EEE", says: "it gives 0.5",
		},
		"a time, and emptied files fail": {
			regime: decision.Noisy, scatter: true, emptied: failed,
			runs: "E", says: "not scored: exit 2",
		},
		"pairs that do not scatter": {
			regime: decision.Noisy, emptied: scored("0"), garbled: failed,
			runs: "EG", says: "not scored: exit 2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			standard := repeatable("30")
			standard.Direction, standard.Seed, standard.CheckTooGood, standard.LeavesNothing = metric.Lower, "seed",
				true, c.leavesNothing
			if c.regime != "" {
				standard.Regime = c.regime
			}
			if c.guardrail {
				standard.Guardrails = []decision.Guardrail{{Metric: "tests", Direction: metric.Higher}}
				standard.Initial = map[string][]metric.Value{"tests": {metric.MustValue("9")}}
			}
			held, taken := "", 0
			d, _ := play(standard, func(step decision.Step) metric.Measurement {
				m := scored("30")
				switch step.Side { //nolint:exhaustive // the incumbent has 30
				case decision.Emptied:
					held, m = held+"E", c.emptied
				case decision.Garbled:
					held, m = held+"G", c.garbled
				case decision.Candidate:
					m = scored("0")
					if taken++; c.scatter {
						m = scored("1.0" + strconv.Itoa(taken%5))
					}
				}
				if c.guardrail {
					m.Numbers = map[string]metric.Value{"tests": metric.MustValue("9")}
					if step.Side == decision.Emptied {
						m.Numbers["tests"] = metric.MustValue("0")
					}
				}
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
			assert.Contains(t, d.Reasons[0].String(), "the number does not depend on what was measured: ")
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
		pairs                           int
		candidateScatters, theirScatter bool
		tooGood, flagged                bool
	}{
		"equal beside scattering ones": {pairs: 8, theirScatter: true, flagged: true},
		"and too good":                 {pairs: 8, theirScatter: true, tooGood: true, flagged: true},
		"equal beside equal ones":      {pairs: 8},
		"both scatter":                 {pairs: 8, candidateScatters: true, theirScatter: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			standard := repeatable("30")
			standard.Regime, standard.Pairs, standard.Direction, standard.Seed = decision.Noisy, c.pairs,
				metric.Lower, "seed"
			standard.CheckTooGood = true
			now := "20"
			if c.tooGood {
				now = "1"
			}
			taken, runs := 0, map[decision.Side]int{}
			d, _ := play(standard, func(step decision.Step) metric.Measurement {
				taken++
				runs[step.Side]++
				candidate := step.Side == decision.Candidate
				scatters, text := c.theirScatter, "30"
				if candidate {
					scatters, text = c.candidateScatters, now
				}
				if scatters {
					text += "." + strconv.Itoa(taken%7)
				}
				return scored(text)
			})
			require.Equal(t, decision.Improved, d.Verdict, "%v", d.Reasons)
			assert.Equal(t, c.flagged, strings.Contains(decision.Joined(d.Warning),
				"all 16 numbers of the candidate are "+now), d.Warning)
			assert.Equal(t, c.tooGood, strings.Contains(decision.Joined(d.Warning), "a jump"))
			assert.Equal(t, 2*c.pairs+2, runs[decision.Candidate], "two stages with a warm-up each")
		})
	}
}
