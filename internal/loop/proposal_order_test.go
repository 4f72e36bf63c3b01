package loop

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/process"
)

// letters are events of a bundle.
var letters = map[rune]string{
	'B': `"baseline":[{"role":"baseline","metric":1,"samples":[1]}]`,
	'I': `"baseline":[{"role":"baseline","metric":1,"samples":[1]},{"role":"incumbent","metric":1,"samples":[1]}]`,
	'X': `"baseline":[{"role":"incumbent","metric":1,"samples":[1]}]`,
	'c': `"measured":[{"role":"candidate","stage":"once","metric":1,"samples":[1]},{"role":"candidate","problem":"it fails"}]`,
	'p': `"proposed":[{"proposal":1,"outcome":"rejected"}]`,
	'D': `"decided":{"outcome":"rejected"}`,
	'C': `"checked":{"signature":"build"}`,
	'F': `"postponed":{"not_before":"2026-01-01T00:00:00Z","agent":"a","reason":{"kind":"rate-limit"}}`,
	'N': `"baseline":[null]`,
}

// of is a proposal with the fields that a text has.
func of(t testing.TB, text string, kind Purpose) (*Proposal, error) {
	t.Helper()
	p := &Proposal{}
	if err := json.Unmarshal([]byte("{"+strings.TrimSuffix(text, ",")+"}"), p); err != nil {
		return nil, err
	}
	p.Manifest = Manifest{Kind: kind, Iteration: 2, Run: "r", Candidate: p.Candidate}
	return p, nil
}

// TestEventsOfAProposal tries all that there can be together: what is taken is what a proposal of the
// kind can be, and nothing else.
func TestEventsOfAProposal(t *testing.T) {
	t.Parallel()
	for kind, form := range map[Purpose]*regexp.Regexp{
		// A baseline of one or two commits; then what was measured, and the decision; or
		// that it was put off.
		forIteration: regexp.MustCompile(`^[BI]?(c?p?D|F)?$`),
		// What CI found, and what the attempt to fix it made, if it made something; or that
		// it was put off.
		forFix: regexp.MustCompile(`^(C(c?D)?|F)$`),
	} {
		var try func(word, left string)
		try = func(word, left string) {
			text := ""
			for _, letter := range word {
				text += letters[letter] + ","
			}
			p, err := of(t, text, kind)
			require.NoError(t, err)
			err = p.Sanitize(process.Masker{})
			assert.Equal(t, form.MatchString(word), err == nil, "%s %q: %v", kind, word, err)
			if err != nil {
				var refused *RefusedError
				require.ErrorAs(t, err, &refused)
			}
			for i, letter := range left {
				try(word+string(letter), left[i+1:])
			}
		}
		for _, first := range []string{"", "B", "I", "X", "N"} {
			try(first, "CcpDF")
		}
	}
}

// TestMeasurementsOfABundle: roles, stages and numbers that no trial has are refused.
func TestMeasurementsOfABundle(t *testing.T) {
	t.Parallel()
	const whole = `"role":"candidate","stage":"pairs","metric":2,"samples":[1,2,4],"guardrail_samples":{"g":[1,2]},` +
		`"case_samples":{"c":[0,1,1]}`
	for name, c := range map[string]struct{ old, replacement, says string }{
		"a guardrail in more runs": {`[1,2]}`, `[1,2,3,4]}`, `4 values of "g" for 3 runs`},
		"a case in fewer runs":     {`[0,1,1]`, `[0,1]`, `2 values of "c" for 3 runs`},
		"a mean for a median":      {`"metric":2`, `"metric":2.33`, "not the median of its samples"},
		"a number almost the same": {`"metric":2`, `"metric":2.0000000000000000001`, "not the median of its samples"},
		"no metric":                {`"metric":2,`, ``, "not the median of its samples"},
		"a metric without samples": {
			`"samples":[1,2,4],"guardrail_samples":{"g":[1,2]},"case_samples":{"c":[0,1,1]}`,
			`"x":1`, "",
		},
		"confirmed":                    {"pairs", "confirmation", ""},
		"a stage that nobody knows":    {"pairs", "Pairs", `the stage "Pairs", which does not exist`},
		"a stage for other roles":      {"pairs", "held", `the stage "held", which does not exist`},
		"the incumbent, without stage": {`"candidate","stage":"pairs"`, `"incumbent"`, "which does not exist"},
		"a baseline in a stage":        {"candidate", "baseline", "which does not exist"},
		"emptied":                      {`"candidate","stage":"pairs"`, `"emptied","stage":"held"`, ""},
		"emptied, without a stage":     {`"candidate","stage":"pairs"`, `"emptied"`, "which does not exist"},
		"no role":                      {`"role":"candidate",`, ``, "which does not exist"},
		"a number that is no number":   {`"metric":2`, `"metric":"NaN"`, "NaN"},
		"the same candidate once more": {"", "", "has two measurements of the candidate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, whole, c.old)
			event := "{" + strings.Replace(whole, c.old, c.replacement, 1) + "}"
			if c.old == "" {
				event += "," + event
			}
			p, err := of(t, `"measured":[{"role":"candidate"},`+event+`],`+letters['D'], forIteration)
			if err == nil {
				err = p.Sanitize(process.Masker{})
			}
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
			assert.NotContains(t, err.Error(), "\n")
			assert.Less(t, len(err.Error()), 300)
		})
	}
}

// TestKeptCandidateHasDecision, whatever the decision is.
func TestKeptCandidateHasDecision(t *testing.T) {
	t.Parallel()
	for outcome, kept := range map[state.Status]bool{
		history.Accepted: true, history.PendingCI: true, history.Rejected: false, history.Inconclusive: false,
		history.Error: false, history.CIFixExhausted: false, history.Idle: false, "": false, "Accepted": false,
	} {
		for _, candidate := range []string{"", "c"} {
			p := &Proposal{
				Manifest: Manifest{Kind: forIteration, Candidate: candidate}, Decided: &history.Decided{Outcome: outcome},
			}
			err := p.Sanitize(process.Masker{})
			if kept == (candidate != "") {
				require.NoError(t, err, "%q", outcome)
				assert.Equal(t, kept, p.Kept())
			} else {
				require.ErrorContains(t, err, "and its candidate contradict each other", "%q", outcome)
			}
		}
	}
	for _, letter := range " BF" { // without a decision nothing is kept
		p, err := of(t, letters[letter], forIteration)
		require.NoError(t, err)
		p.Candidate = "c"
		require.ErrorContains(t, p.Sanitize(process.Masker{}), "contradict each other")
	}
}
