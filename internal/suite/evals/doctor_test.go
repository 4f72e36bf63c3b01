package evals

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// told are the findings of a suite of these cases beside two good ones, without those of
// its triggers.
func told(history []PastCase, cases ...Case) (list []string) {
	for i := range 2 {
		cases = append(cases, Case{
			ID: fmt.Sprint("good", i), Prompt: fmt.Sprint("Do ", i),
			Checks: []Check{{Kind: OutputExists, File: "a"}},
		})
	}
	for _, finding := range Examine(EvalSuite{Cases: cases}, []Trigger{{"a", true}, {"b", false}}, history) {
		list = append(list, finding.Case+" "+finding.Kind+": "+finding.Message)
	}
	return list
}

// TestChecksThatAlwaysPass are named, and those that only look so are not.
func TestChecksThatAlwaysPass(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		check Check
		says  string
	}{
		"a count of nothing or more": {Check{Kind: JSONFieldCount, Operator: "gte"}, "every count is 0 or more"},
		"a count of one or more":     {Check{Kind: JSONFieldCount, Operator: "gte", Count: 1}, ""},
		"true":                       {Check{Kind: ShellCommand, Command: " true\n"}, "the command always succeeds"},
		"a colon":                    {Check{Kind: ShellCommand, Command: ":"}, "the command always succeeds"},
		"exit 1":                     {Check{Kind: ShellCommand, Command: "exit 1"}, ""},
		"or true": {
			Check{Kind: ShellCommand, Command: "make test || true "},
			"`|| true` makes every failure a success",
		},
		"or true, then more":  {Check{Kind: ShellCommand, Command: "make || true; test -f a"}, ""},
		"a text of that name": {Check{Kind: OutputContains, Text: "true"}, ""},
	} {
		c.check.Description = "d"
		found := told(nil, Case{ID: "1", Prompt: "Write", Checks: []Check{c.check}})
		if c.says == "" {
			assert.Empty(t, found, name)
			continue
		}
		assert.Equal(t, []string{"1 vacuous: \"d\": " + c.says}, found, name)
	}
}

// TestAnswersInThePrompt are found however blanks and letters are written, but for those that
// are too short to be no chance.
func TestAnswersInThePrompt(t *testing.T) {
	t.Parallel()
	const prompt = "Greet the world:\n  say HELLO  there, 12345 times"
	for name, c := range map[string]struct {
		check Check
		finds bool
	}{
		"word for word":          {Check{Kind: OutputContains, Text: "hello there"}, true},
		"not in it":              {Check{Kind: OutputContains, Text: "hello, there"}, false},
		"four letters":           {Check{Kind: OutputContains, Text: "Gree"}, false},
		"five letters":           {Check{Kind: OutputContains, Text: "there"}, true},
		"what must not be there": {Check{Kind: OutputNotContains, Text: "hello there"}, false},
		"a field":                {Check{Kind: JSONFieldEquals, Value: "hello there"}, true},
		"a number of a field":    {Check{Kind: JSONFieldEquals, Value: json.Number("12345")}, false},
		"an object":              {Check{Kind: JSONFieldEquals, Value: map[string]any{"a": "hello there"}}, false},
		"an entry of a list":     {Check{Kind: JSONArrayContains, Value: "HELLO THERE"}, true},
	} {
		c.check.Description = "d"
		found := told(nil, Case{ID: "1", Prompt: prompt, Checks: []Check{c.check}})
		if c.finds {
			require.Len(t, found, 1, name)
			assert.True(t, strings.HasPrefix(found[0], "1 answer-in-prompt: the prompt contains "), "%s: %s",
				name, found[0])
			assert.True(t, strings.HasSuffix(found[0], `, which "d" looks for: a copy of the prompt passes`), "%s: %s",
				name, found[0])
		} else {
			assert.Empty(t, found, name)
		}
	}
	found := told(nil, Case{
		ID: "1", Prompt: "Write a poem. It  RHYMES.",
		Expectations: []string{"it rhymes", "It rhymes well"}, Checks: []Check{{Kind: OutputExists, File: "a"}},
	})
	assert.Equal(t, []string{`1 answer-in-prompt: the prompt contains the expectation "it rhymes" word for word`},
		found)
}

// TestCasesThatTellNothing: what passes without any work, what no check is of, and a prompt
// that is there again.
func TestCasesThatTellNothing(t *testing.T) {
	t.Parallel()
	absent, there := Check{Kind: OutputNotExists, File: "a"}, Check{Kind: OutputExists, File: "a"}
	const idle, unchecked = "it passes when the agent does nothing", "it has no deterministic check"
	for name, c := range map[string]struct {
		cases []Case
		says  []string // how each begins
	}{
		"something that must be there": {[]Case{{ID: "1", Prompt: "p", Checks: []Check{there}}}, nil},
		"only what must not be": {
			[]Case{{ID: "1", Prompt: "p", Checks: []Check{absent}}},
			[]string{"1 idle: " + idle},
		},
		"expectations alone": {
			[]Case{{ID: "1", Prompt: "p", Expectations: []string{"it is good"}}},
			[]string{"1 no-check: " + unchecked},
		},
		"nothing at all": {
			[]Case{{ID: "1", Prompt: "p"}},
			[]string{"1 no-check: " + unchecked, "1 idle: " + idle},
		},
		"a prompt again": {[]Case{
			{ID: "1", Prompt: "Say  it", Checks: []Check{there}},
			{ID: "2", Prompt: "say it\n", Checks: []Check{there}},
			{ID: "3", Prompt: "SAY IT", Checks: []Check{there}},
		}, []string{
			"2 duplicate: it has the prompt of case 1", "3 duplicate: it has the prompt of case 1",
		}},
	} {
		found := told(nil, c.cases...)
		require.Len(t, found, len(c.says), "%s: %q", name, found)
		for i, says := range c.says {
			assert.True(t, strings.HasPrefix(found[i], says), "%s: %s", name, found[i])
		}
	}
	for cases, few := range map[int]bool{0: true, 2: true, 3: false} {
		var suite EvalSuite
		for i := range cases {
			suite.Cases = append(suite.Cases, Case{ID: fmt.Sprint(i), Prompt: fmt.Sprint(i), Checks: []Check{there}})
		}
		found := Examine(suite, []Trigger{{"a", true}, {"b", false}}, nil)
		assert.Equal(t, few, len(found) == 1 && found[0].Kind == "few-cases", "%d cases: %v", cases, found)
	}
}

// TestChecksThatNeverDiffer is known of three runs or more, of those alone that answered
// it: a grading from before it was in the suite is none of it.
func TestChecksThatNeverDiffer(t *testing.T) {
	t.Parallel()
	c := Case{
		ID: "1", Prompt: "p", Expectations: []string{"it is good"},
		Checks: []Check{{Kind: OutputExists, File: "a"}},
	}
	runs := func(text string) (history []PastCase) { // for each of the two: y, n, or - for no answer
		for run := range strings.FieldsSeq(text) {
			var g Grading
			for i, label := range []string{"it is good", "file_exists a"} {
				if run[i] != '-' {
					g.Expectations = append(g.Expectations, Graded{Text: label, Passed: run[i] == 'y'})
				}
			}
			history = append(history, PastCase{ID: "1", Grading: g})
		}
		return history
	}
	for text, want := range map[string][]string{
		"":         nil,
		"yn yn":    nil,
		"yn ny yn": nil,
		"yn yn yn": {
			"always-fails: \"file_exists a\" failed in all 3 runs",
			"always-passes: \"it is good\" passed in all 3 runs",
		},
		"yy yy yy yn":    {"always-passes: \"it is good\" passed in all 4 runs"},
		"-y -n -y":       nil,
		"-y -n -y ny":    nil,
		"-y -n nn ny":    nil,
		"-y -n nn ny nn": {"always-fails: \"it is good\" failed in all 3 runs"},
		"-y y- y- y-":    {"always-passes: \"it is good\" passed in all 3 runs"},
		"-- -- -- --":    nil,
	} {
		history := runs(text)
		var found []string
		for _, line := range told(history, c) {
			found = append(found, strings.TrimPrefix(line, "1 "))
		}
		slices.Sort(found)
		require.Len(t, found, len(want), "%s: %q", text, found)
		for i, says := range want {
			assert.True(t, strings.HasPrefix(found[i], says), "%s: %s", text, found[i])
		}
		for i := range history {
			history[i].ID = "2"
		}
		assert.Empty(t, told(history, c), "%s: of another case", text)
	}
}

// TestPatternsThatMatchAnything: one is called so when no text is without a match.
func TestPatternsThatMatchAnything(t *testing.T) {
	t.Parallel()
	for anything, patterns := range map[bool]string{
		true:  `.* a* (?s).* ^ $ ^a* a*$ (?m)^ (?m)$ x?|y (a|b|) [^a]* (?i)A{0,3} \A \z (?:^)* a|$`,
		false: `^$ ^\s*$ ^a*$ ^-?[0-9]*$ (?m)^$ \A\z \B a . a+ \b ^.*$ ^(?:ok)?\n?$`,
	} {
		for _, pattern := range strings.Fields(patterns) {
			for _, kind := range []CheckKind{OutputMatches, JSONFieldMatches} {
				check := Check{Kind: kind, File: "f", Description: "d", Pattern: regexp.MustCompile(pattern)}
				found := told(nil, Case{ID: "1", Prompt: "Write", Checks: []Check{check}})
				if !anything {
					assert.Empty(t, found, pattern)
					continue
				}
				require.Len(t, found, 1, pattern)
				assert.Contains(t, found[0], `1 vacuous: "d": the pattern matches an`)
			}
		}
	}
}
