package suite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/golden"
)

// goodTriggers are those of which there is nothing to say.
func goodTriggers() []Case { return []Case{query("a", true), query("b", false)} }

func query(text string, should bool) Case { return Case{Prompt: text, Trigger: &should} }

// told are the findings of a suite of these cases beside two good ones.
func told(t *testing.T, cases string) string {
	t.Helper()
	for i := range 2 {
		cases += fmt.Sprintf(`, {"id": "good%d", "prompt": "Do %d", "deterministic_checks": [
			{"type": "file_exists", "file": "a"}]}`, i, i)
	}
	suite, err := ParseEvals("e.json", []byte("["+cases+"]"), isFile)
	require.NoError(t, err)
	var list []string
	for _, finding := range Examine(suite, goodTriggers()) {
		list = append(list, finding.Case+" "+finding.Kind+": "+finding.Message)
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// TestCasesThatTellNothing: checks that always pass, answers that are in the prompt however blanks
// and letters are written, what passes without any work, and a prompt that is there again.
func TestCasesThatTellNothing(t *testing.T) {
	t.Parallel()
	with := func(check string) string {
		return `{"id": 1, "prompt": "Greet the world:\n  say HELLO  there, 12345 times", "deterministic_checks": [` +
			`{"name": "d", "file": "f", "type": ` + check + `}]}`
	}
	command := func(text string) string {
		return strings.Replace(with(`"shell_command", "command": "`+text+`"`), `"file": "f", `, "", 1)
	}
	again := func(id, prompt string) string {
		return `{"id": ` + id + `, "prompt": "` + prompt + `", "deterministic_checks": [` +
			`{"type": "file_exists", "file": "a"}]}`
	}
	golden.Table(t, map[string]string{
		"a count of nothing or more": with(`"json_field_count", "path": "x", "operator": "gte", "value": 0`),
		"a count of one or more":     with(`"json_field_count", "path": "x", "operator": "gte", "value": 1`) + "=>",
		"true":                       command(` true\n`),
		"a colon":                    command(":"),
		"exit 1":                     command("exit 1") + "=>",
		"or true":                    command("make test || true "),
		"or true, then more":         command("make || true; test -f a") + "=>",
		"a text of that name":        with(`"file_contains", "text": "true"`) + "=>",

		"word for word": with(`"file_contains", "text": "hello there"`),
		"not in it":     with(`"file_contains", "text": "hello, there"`) + "=>",
		"four letters":  with(`"file_contains", "text": "Gree"`) + "=>",
		"five letters":  with(`"file_contains", "text": "there"`),
		"what must not be there": with(
			`"file_not_contains", "text": "hello there"}, {"type": "json_valid", "file": "f"`,
		) +
			"=>",
		"a field":             with(`"json_field_equals", "path": "x", "value": "hello there"`),
		"a number of a field": with(`"json_field_equals", "path": "x", "value": 12345`) + "=>",
		"an object":           with(`"json_field_equals", "path": "x", "value": {"a": "hello there"}`) + "=>",
		"an entry of a list":  with(`"json_array_contains", "path": "x", "value": "HELLO THERE"`),
		"an expectation": `{"id": 1, "prompt": "Write a poem. It  RHYMES.", "expectations": ["it rhymes", ` +
			`"It rhymes well"], "deterministic_checks": [{"type": "file_exists", "file": "a"}]}`,

		"something that must be there": again("1", "p") + "=>",
		"only what must not be":        with(`"file_not_exists"`),
		"expectations alone":           `{"id": 1, "prompt": "p", "expectations": ["it is good"]}`,
		"a prompt again": again(
			"1",
			"Say  it",
		) + "," + again(
			"2",
			`say it\n`,
		) + "," + again(
			"3",
			"SAY IT",
		),
	}, func(t *testing.T, cases string) any {
		t.Helper()
		return told(t, cases)
	})
	for cases, few := range map[int]bool{0: true, 2: true, 3: false} {
		var small []Case
		for i := range cases {
			small = append(small, Case{
				ID: fmt.Sprint(i), Prompt: fmt.Sprint(i), Checks: []Check{{Kind: OutputExists, File: "a"}},
			})
		}
		found := Examine(small, goodTriggers())
		assert.Equal(t, few, len(found) == 1 && found[0].Kind == "few-cases", "%d cases: %v", cases, found)
	}
}

// TestPatternsThatMatchAnything: one is called so when no text is without a match.
func TestPatternsThatMatchAnything(t *testing.T) {
	t.Parallel()
	for anything, patterns := range map[bool]string{
		true:  `.* a* (?s).* ^ $ ^a* a*$ (?m)^ (?m)$ x?|y (a|b|) [^a]* (?i)A{0,3} \A \z (?:^)* a|$`,
		false: `^$ ^\s*$ ^a*$ ^-?[0-9]*$ (?m)^$ \A\z \B a . a+ \b ^.*$ ^(?:ok)?\n?$`,
	} {
		for pattern := range strings.FieldsSeq(patterns) {
			for _, kind := range []string{`regex_match"`, `json_field_matches", "path": "x"`} {
				found := told(t, `{"id": 1, "prompt": "Write", "deterministic_checks": [{"name": "d", "file": "f", `+
					`"type": "`+kind+`, "pattern": "`+strings.ReplaceAll(pattern, `\`, `\\`)+`"}]}`)
				assert.Equal(t, anything, strings.HasPrefix(found, `1 vacuous: "d": the pattern matches an`), pattern)
				assert.Equal(t, anything, found != "", pattern)
			}
		}
	}
}

func TestExamineTriggers(t *testing.T) {
	t.Parallel()
	var three []Case
	for _, id := range []string{"1", "2", "3"} {
		three = append(three,
			Case{ID: id, Prompt: "prompt " + id, Checks: []Check{{Kind: OutputExists, File: "a"}}})
	}
	for name, triggers := range map[string][]Case{
		"none": nil, "both kinds": goodTriggers(), "no false": {query("a", true), query("b", true)}, "no true": {query("a", false)},
		"alike":          {query("Write  notes", true), query("write notes", true), query("b", false)},
		"alike, and one": {query("a", true), query("A ", true)},
	} {
		var found []string
		for _, finding := range Examine(three, triggers) {
			found = append(found, finding.Kind+": "+finding.Message)
		}
		golden.Row(t, name, strings.Join(found, "; "))
	}
}
