package proposal

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/process"
)

// letters are events of a bundle; small ones may come in any order.
var letters = map[rune]string{
	'B': `{"event":"measured","run_id":"r","iteration":1,"role":"baseline","metric":1,"samples":[1]}`,
	'I': `{"event":"measured","run_id":"r","iteration":1,"role":"incumbent","metric":1,"samples":[1]}`,
	'i': `{"event":"measured","run_id":"r","iteration":2,"role":"incumbent","stage":"once","metric":1,"samples":[1]}`,
	'c': `{"event":"measured","run_id":"r","iteration":2,"role":"candidate","stage":"once","metric":1,"samples":[1]}`,
	'w': `{"event":"measured","run_id":"r","iteration":2,"role":"candidate","problem":"it fails"}`,
	'p': `{"event":"proposed","run_id":"r","iteration":2,"proposal":1,"outcome":"rejected"}`,
	'D': `{"event":"decided","run_id":"r","iteration":2,"outcome":"rejected"}`,
	'C': `{"event":"checked","run_id":"r","iteration":2,"signature":"build"}`,
	'F': `{"event":"finished","run_id":"r","iteration":2,"not_before":"2026-01-01T00:00:00Z","agent":"a",` +
		`"reason":{"kind":"rate-limit"}}`,
}

// TestOrderOfEvents tries all orders of up to four events: what is taken is what
// a proposal of the kind can be, and nothing else. A bundle of it is the same proposal.
func TestOrderOfEvents(t *testing.T) {
	t.Parallel()
	for kind, form := range map[Purpose]*regexp.Regexp{
		// A baseline of one or two commits; then what was measured, and the decision; or
		// that it was put off.
		Iteration: regexp.MustCompile(`^(BI?)?([icwp]*D|F)?$`),
		// What CI found, and what the attempt to fix it made, if it made something; or that
		// it was put off.
		Fix: regexp.MustCompile(`^(C([icw]*D)?|F)$`),
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			taken := 0
			var try func(word string)
			try = func(word string) {
				twice := false
				for _, letter := range "icwp" {
					twice = twice || strings.Count(word, string(letter)) > 1
				}
				var events strings.Builder
				for _, letter := range word {
					events.WriteString(letters[letter] + "\n")
				}
				b := ofIteration(events.String(), kind)
				b.Candidate = ""
				p, err := Decode(b, process.Masker{})
				if want := form.MatchString(word) && !twice; want != (err == nil) {
					assert.Fail(t, "another order", "%q: %v", word, err)
				}
				if err == nil {
					taken++
					assert.Len(t, p.Events(), len(word))
					again, err := p.Bundle(time.Time{})
					require.NoError(t, err)
					twice, err := Decode(again, process.Masker{})
					require.NoError(t, err, word)
					assert.Equal(t, p, twice, word)
				} else {
					var refused *RefusedError
					require.ErrorAs(t, err, &refused)
				}
				// What nothing can make good is not tried with more behind it.
				if len(word) == 4 || len(word) > 1 && strings.ContainsAny(word[:len(word)-1], "DF") {
					return
				}
				for letter := range letters {
					try(word + string(letter))
				}
			}
			try("")
			assert.Greater(t, taken, 10)
		})
	}
}

// TestEventsOfAnother: every event is of the run and the iteration that the manifest names;
// a baseline is of the iteration before.
func TestEventsOfAnother(t *testing.T) {
	t.Parallel()
	for letter, kind := range map[rune]Purpose{'B': Iteration, 'c': Iteration, 'C': Fix} {
		alone := func(change func(line string) string) error {
			b := ofIteration(change(letters[letter])+"\n", kind)
			b.Candidate = ""
			_, err := Decode(b, process.Masker{})
			return err
		}
		number := `"iteration":2`
		if letter == 'B' {
			number = `"iteration":1`
		}
		for _, other := range []string{`"iteration":0`, `"iteration":1`, `"iteration":2`, `"iteration":3`} {
			err := alone(func(line string) string { return strings.Replace(line, number, other, 1) })
			if other == number {
				assert.NotContains(t, errorText(err), "event of iteration", "%c", letter)
			} else {
				assert.Contains(t, errorText(err), "event of iteration", "%c %s", letter, other)
			}
		}
		for _, other := range []string{`"run_id":"R"`, `"run_id":"r","run_id":"s"`, `"x":1`} {
			err := alone(func(line string) string { return strings.Replace(line, `"run_id":"r"`, other, 1) })
			assert.Contains(t, errorText(err), "it has events of run", "%c %s", letter, other)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
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
		"the incumbent, without stage": {`"candidate","stage":"pairs"`, `"incumbent"`, "which no proposal makes there"},
		"a baseline in a stage":        {"candidate", "baseline", "which no proposal makes there"},
		"emptied":                      {`"candidate","stage":"pairs"`, `"emptied","stage":"held"`, ""},
		"emptied, without a stage":     {`"candidate","stage":"pairs"`, `"emptied"`, "which no proposal makes there"},
		"no role":                      {`"role":"candidate",`, ``, "which does not exist"},
		"a number that is no number":   {`"metric":2`, `"metric":"NaN"`, "its events cannot be read: "},
		"the same candidate once more": {"", "", "has two measurements of the candidate"},
		"an event of a name no one has": {
			`"role"`, `"event":"invented","role"`,
			`its "event" is "invented", which this`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			event := func(old, replacement string) string {
				require.Contains(t, whole, old)
				return `{"event":"measured","run_id":"r","iteration":2,` + strings.Replace(whole, old,
					replacement, 1) + "}\n"
			}
			events := letters['c'] + "\n" + event(c.old, c.replacement)
			if c.old == "" {
				events += event("", "")
			}
			b := ofIteration(events+letters['D']+"\n", Iteration)
			b.Candidate = ""
			_, err := Decode(b, process.Masker{})
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
	for outcome, kept := range map[history.Outcome]bool{
		history.Accepted: true, history.PendingCI: true, history.Rejected: false, history.Inconclusive: false,
		history.Error: false, history.CIFixExhausted: false, history.Idle: false, "": false, "Accepted": false,
	} {
		for _, candidate := range []string{"", "c"} {
			b := ofIteration(strings.Replace(letters['D'], "rejected", string(outcome), 1), Iteration)
			b.Candidate = candidate
			p, err := Decode(b, process.Masker{})
			if kept == (candidate != "") {
				require.NoError(t, err, "%q", outcome)
				assert.Equal(t, kept, p.Kept())
			} else {
				require.ErrorContains(t, err, "and its candidate contradict each other", "%q", outcome)
			}
		}
	}
	for _, word := range []string{"", "B", "F"} { // without a decision nothing is kept
		_, err := Decode(ofIteration(letters[[]rune(word + " ")[0]], Iteration), process.Masker{})
		require.ErrorContains(t, err, "contradict each other", word)
	}
}
