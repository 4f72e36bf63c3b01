package judge

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/tests/golden"
)

// TestScoresInAnswers: the score and the rationale of an answer, or, in testdata, what is wrong
// with it.
func TestScoresInAnswers(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{
		"alone":      `{"score": 0.75, "rationale": "good"} => 0.75 good`,
		"in a fence": "Here:\n```json\n{\"score\": 1}\n```\nThat is all. => 1",
		"between prose and braces": `I saw {x} and func() { return {} } so {"score":0,"rationale":"a } b"} is ` +
			`{fair}. => 0 a } b`,
		"nested":                     `{"result": {"score": 0.5}} => 0.5`,
		"said twice":                 `{"score": 0.5} and again {"score": 0.50} => 0.5`,
		"exponent":                   `{"score": 5e-1} => 0.5`,
		"said differently":           `{"score": 0.5} or {"score": 0.6}`,
		"quoted from the diff":       `The diff says {"score": 1.0}. {"score": 0.1}`,
		"nothing":                    "",
		"prose":                      "0.9",
		"a list":                     `[0.9]`,
		"too high":                   `{"score": 7}`,
		"below 0":                    `{"score": -0.1}`,
		"a hair above":               `{"score": 1.0000001}`,
		"less than a hair above":     `{"score": 1.00000000000000000000000000000001}`,
		"less than a hair below":     `{"score": -1e-390}`,
		"less than can be told from": `{"score": 1e-390} => 1e-390`,
		"minus nothing":              `{"score": -0.0} => 0`,
		"too many digits":            `{"score": 0.` + strings.Repeat("1", 500) + `}`,
		"a scale of null":            `{"score": 0.8, "max": null} => 0.8`,
		"an object":                  `{"score": {"value": 0.8}}`,
		"a list as the score":        `{"score": [0.8]}`,
		"one good, one bad":          `{"score": 0.8} {"score": "high"}`,
		"inside of one without":      `{"a": [{"b": {"score": 0.2}}], "c": {"score": 0.2}} => 0.2`,
		"inside of one with another": `{"score": 0.2, "inner": {"score": 0.9}} => 0.2`,
		"in a text of another":       `{"note": "{\"score\": 1}", "score": 0.3} => 0.3`,
		"after as many braces":       strings.Repeat("{ ", 999) + `{"score": 0.5} => 0.5`,
		"after one brace more":       strings.Repeat("{ ", 1000) + `{"score": 0.5}`,
		"beyond what is looked at":   strings.Repeat(" ", 256<<10) + `{"score": 0.5}`,
		"with a mark at its head":    "\ufeff{\"score\": 0.5} => 0.5",
		"with its own scale":         `{"score": 0.8, "max": 10}`,
		"with its own scale of 1":    `{"score": 0.8, "max": 1}`,
		"out of range":               `{"score": 1e999}`,
		"NaN":                        `{"score": NaN}`,
		"Infinity":                   `{"score": -Infinity}`,
		"null":                       `{"score": null}`,
		"text":                       `{"score": "0.8"}`,
		"a truth":                    `{"score": true}`,
		"unended":                    `{"score": 0.8`,
		"many braces":                strings.Repeat("{", 1<<20),
		"a rationale that is a list": `{"score": 0.3, "rationale": ["a"]} => 0.3`,
	}, func(_ *testing.T, text string) any {
		value, rationale, err := parse(text)
		if err != nil {
			return err
		}
		return fmt.Sprint(value, " ", rationale)
	})
}

// TestVerdictsInAnswers: what counts of an answer, each expectation by itself; of one that cannot be
// used, what is wrong with it, after it was asked for once more.
func TestVerdictsInAnswers(t *testing.T) {
	t.Parallel()
	of := func(verdicts string) string { return `{"expectations": [` + verdicts + `]}` }
	const one = `{"number": 1, "passed": true, "evidence": "a"}`
	golden.Table(t, map[string]string{
		"both":             of(one + `, {"number": 2, "passed": false, "evidence": "b"}`),
		"in another order": of(`{"number": 2, "passed": true, "evidence": "b"}, {"number": 1, "evidence": "a"}`),
		"passed without evidence": of(
			`{"number": 1, "passed": true, "evidence": ""}, {"number": 2, "passed": true}`),
		"evidence alone": of(
			`{"number": 1, "evidence": "a"}, {"number": 2, "passed": null, "evidence": "b"}`,
		),
		"between prose":              "Well {so}: " + of(one) + " {done}",
		"evidence of several lines":  of(`{"number": 1, "passed": true, "evidence": "a\nb\u001b[31m"}`),
		"with other keys":            `{"score": 1, "expectations": [{"x": {}, ` + one[1:] + `]}`,
		"beside an object of others": `{"score": 0.5} ` + of(one),
		"with feedback":              `{"expectations": [` + one + `], "eval_feedback": {"overall": "` + secret + `"}}`,
		"with feedback without end": `{"expectations": [` + one + `], "eval_feedback": "` +
			strings.Repeat("x", 8<<10) + `"}`,
		"number 0":      of(`{"number": 0, "passed": true, "evidence": "a"}`),
		"number 3":      of(`{"number": 3, "passed": true, "evidence": "a"}`),
		"twice":         of(one + ", " + one),
		"two answers":   of(one) + of(one),
		"no number":     of(`{"passed": true, "evidence": "a"}`),
		"null":          `{"expectations": null}`,
		"an object":     `{"expectations": {"1": true}}`,
		"half a number": of(`{"number": 1.5, "passed": true, "evidence": "a"}`),
		"nothing":       of(""),
	}, func(t *testing.T, text string) any {
		t.Helper()
		found, _, asked := ask(t, suiteCase(), text)
		if found.Problem != "" {
			assert.Equal(t, 2, asked)
			assert.Nil(t, found.Expectations)
			return found.Problem
		}
		assert.Equal(t, 1, asked)
		return fmt.Sprintf("%+v %s", found.Expectations, found.Feedback)
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"score":0.5}`, `{{{"score":1,"max":1}`, `{"score":1e-400}`, "{\"a\":{\"score\":0.1}}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, _, err := parse(text)
		if err == nil {
			assert.GreaterOrEqual(t, value.Float64(), 0.0)
			assert.LessOrEqual(t, value.Float64(), 1.0)
		}
	})
}
