package suite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/golden"
)

// checkOf is a check of the file f, by its type and its other keys.
func checkOf(t *testing.T, text string) Check {
	t.Helper()
	kind, keys, _ := strings.Cut(text, " ")
	read, err := ParseEvals("e", []byte(`[{"id":1,"prompt":"p","deterministic_checks":[{"type": "`+kind+
		`", "file": "f"`+keys+`}]}]`), isFile)
	require.NoError(t, err, text)
	return read[0].Checks[0]
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	const doc = `{"n": 1.0, "t": "ab", "z": null, "no": false, "list": [1, "x", {"k": [2], "j": 1}], ` +
		`"o": {"p": 1, "q": 2}}`
	for passes, checks := range map[bool][]string{ // a check, and after an arrow what is in the file, else doc
		true: {
			`json_valid`,
			`json_field_equals , "path": "n", "value": 1`,
			`json_field_equals , "path": ".n", "value": 1`,
			`json_field_equals , "path": "z", "value": null`,
			`json_field_equals , "path": "list[2]", "value": {"k": [2.0], "j": 1}`,
			`json_field_exists , "path": "no"`,
			`json_field_exists , "path": "." <- {}`,
			`json_field_absent , "path": "z"`,
			`json_field_absent , "path": "gone"`,
			`json_field_matches , "path": "t", "pattern": "^a"`,
			`json_field_count , "path": "list", "value": 3`,
			`json_array_contains , "path": "list", "value": "x"`,
			`json_array_contains , "path": ".list", "match": {"k": [2]}`,
			`json_array_contains , "path": "$", "value": 2 <- [1, 2e0]`,
			`file_contains , "text": "ab" <- cabd`,
			`regex_match , "pattern": "(?m)^b$" <- ` + "a\nb\n",
		},
		false: {
			`json_valid <- ` + doc + "{}",
			`json_valid <- `,
			`json_field_equals , "path": "n", "value": "1"`,
			`json_field_equals , "path": "gone", "value": null`,
			`json_field_exists , "path": "z"`,
			`json_field_exists , "path": "gone"`,
			`json_field_absent , "path": "no"`,
			`json_field_absent , "path": "gone" <- no JSON`,
			`json_field_matches , "path": "z", "pattern": ".*"`,
			`json_field_count , "path": "o", "operator": "lt", "value": 2`,
			`json_field_count , "path": "t", "operator": "gte", "value": 0`,
			`json_array_contains , "path": "list", "match": {"k": [3]}`,
			`json_array_contains , "path": "list", "value": {"k": [2]}`,
			`json_array_contains , "path": "$", "match": {"a": 1} <- [1, "a", [{"a": 1}]]`,
			`json_array_contains , "path": "t", "value": "a"`,
			`file_not_contains , "text": "ab" <- cabd`,
			`regex_match , "pattern": "^b$" <- ` + "a\nb\n",
		},
	} {
		for _, text := range checks {
			text, data, given := strings.Cut(text, " <- ")
			if !given {
				data = doc
			}
			check := checkOf(t, text)
			passed, evidence := check.Verdict(Found{Exists: true, Data: []byte(data)})
			assert.Equal(t, passes, passed, "%s: %s", text, evidence)
			if assert.NotEmpty(t, evidence); !given {
				assert.Contains(t, evidence, check.PathText, "it is shown as the file says it")
			}
			passed, _ = check.Verdict(Found{})
			assert.False(t, passed, "%s passes without its file", text)
		}
	}
	for op, want := range map[string][3]bool{
		"eq": {false, true, false}, "ne": {true, false, true}, "gt": {false, false, true}, "gte": {false, true, true},
		"lt": {true, false, false}, "lte": {true, true, false},
	} {
		for i, holds := range want {
			count := checkOf(t, `json_field_count , "path": "$", "value": 2, "operator": "`+op+`"`)
			passed, _ := count.Verdict(Found{Exists: true, Data: []byte("[0" + strings.Repeat(", 0", i) + "]")})
			assert.Equal(t, holds, passed, "%d %s 2", i+1, op)
		}
	}
	answer := Check{Kind: ExactAnswer, File: "f", Text: "Yes"}
	for name, c := range map[string]struct {
		check  Check
		out    Found
		passes bool
	}{
		"not there":          {Check{Kind: OutputNotExists}, Found{}, true},
		"there all the same": {Check{Kind: OutputNotExists}, Found{Exists: true}, false},
		"no directory any more": {
			Check{Kind: OutputNotExists}, Found{Problem: "it is no directory"}, false,
		},
		"nothing to look into": {Check{Kind: OutputExists}, Found{Problem: "it is no directory"}, false},
		"there, unreadable":    {Check{Kind: OutputExists}, Found{Exists: true, Problem: "a link"}, true},
		"unreadable": {
			Check{Kind: OutputNotContains, Text: "x"}, Found{Exists: true, Problem: "a link"}, false,
		},
		"the answer":     {answer, Found{Exists: true, Data: []byte("\ufeff yES\n")}, true},
		"another answer": {answer, Found{Exists: true, Data: []byte("yes, it is")}, false},
		"no answer":      {answer, Found{Exists: true, Data: []byte(" \n")}, false},
	} {
		c.out.Name = "outputs/f"
		passed, evidence := c.check.Verdict(c.out)
		assert.Equal(t, c.passes, passed, "%s: %s", name, evidence)
		golden.Row(t, name, evidence)
		assert.NotContains(t, evidence, "Yes", "the answer is not told")
	}
}

// TestPatternsThatWouldTakeForever would take minutes without a bound.
func TestPatternsThatWouldTakeForever(t *testing.T) {
	t.Parallel()
	text := `"` + strings.Repeat("a", 4<<20) + `"`
	for _, c := range []string{
		`regex_match , "pattern": "[ab]{1000}c"`, `regex_match , "pattern": "(?:a*){400}b"`,
		`json_field_matches , "path": "$", "pattern": "[ab]{1000}c"`,
	} {
		passed, evidence := checkOf(t, c).Verdict(Found{Exists: true, Data: []byte(text)})
		assert.False(t, passed)
		assert.Contains(t, evidence, "too many for a pattern of")
	}
	passed, evidence := checkOf(t, `regex_match , "pattern": "a{20}\\\"$"`).Verdict(
		Found{Exists: true, Data: []byte(text[3<<20:])})
	assert.True(t, passed, "a large file alone is no fault: %s", evidence)
}
