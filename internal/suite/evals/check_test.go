package evals

import (
	"strings"
	"testing"

	"github.com/org/autoloop/tests/golden"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJSONPath(t *testing.T) {
	t.Parallel()
	value, err := decodeJSON([]byte(`{"a": {"b.c": [1, {"d": null}]}, "x'y\"z": 2, "": 3}`))
	require.NoError(t, err)
	for path, want := range map[string]string{
		`a["b.c"][0]`: "1", `a['b.c'][1].d`: "null", `$.a."b.c"[0]`: "1", `["x'y\"z"]`: "2", `.["x'y\"z"]`: "2", `[""]`: "3",
	} {
		parsed, err := ParseJSONPath(path)
		require.NoError(t, err, path)
		found, ok := parsed.Find(value)
		require.True(t, ok, path)
		assert.Equal(t, want, jsonText(found), path)
		again, err := ParseJSONPath(parsed.String())
		require.NoError(t, err, parsed.String())
		assert.Equal(t, parsed, again)
	}
	for path := range strings.FieldsSeq(`a.b a[0] a["b.c"][2] b .b a["b.c"][1].e [0] a["b.c"][1].d.e`) {
		parsed, err := ParseJSONPath(path)
		require.NoError(t, err, path)
		_, ok := parsed.Find(value)
		assert.False(t, ok, path)
	}
	for _, path := range append([]string{"", " "}, strings.Fields(
		`.. .a. a. a..b a[ a[] a[-1] a[+1] a[x] a] a["b a["b" a["b"c "a"b $a a[0]b a[99999999999999999999] a["\`)...) {
		_, err := ParseJSONPath(path)
		assert.Error(t, err, path)
	}
}

func FuzzParseJSONPath(f *testing.F) {
	f.Add(`a["b.c"][0].d`)
	f.Fuzz(func(t *testing.T, text string) {
		path, err := ParseJSONPath(text)
		if err != nil {
			return
		}
		again, err := ParseJSONPath(path.String())
		require.NoError(t, err)
		require.Equal(t, path, again)
	})
}

// checkOf is a check of the file f, by its type and its other keys.
func checkOf(t *testing.T, text string) Check {
	t.Helper()
	kind, keys, _ := strings.Cut(text, " ")
	suite, problems := Parse("e", []byte(`[{"id":1,"prompt":"p","deterministic_checks":[{"type": "`+kind+
		`", "file": "f"`+keys+`}]}]`), isFile)
	require.NoError(t, problems.Err(), text)
	return suite.Cases[0].Checks[0]
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
			passed, evidence := check.Verdict(Output{Exists: true, Data: []byte(data)})
			assert.Equal(t, passes, passed, "%s: %s", text, evidence)
			if assert.NotEmpty(t, evidence); !given {
				assert.Contains(t, evidence, check.PathText, "it is shown as the file says it")
			}
			passed, _ = check.Verdict(Output{})
			assert.False(t, passed, "%s passes without its file", text)
		}
	}
	for op, want := range map[string][3]bool{
		"eq": {false, true, false}, "ne": {true, false, true}, "gt": {false, false, true}, "gte": {false, true, true},
		"lt": {true, false, false}, "lte": {true, true, false},
	} {
		for i, holds := range want {
			assert.Equal(t, holds, Check{Kind: JSONFieldCount, Operator: op, Count: 2}.holds(make([]any, i+1)),
				"%d %s 2", i+1, op)
		}
	}
	answer := Check{Kind: exactAnswer, File: "f", Text: "Yes"}
	for name, c := range map[string]struct {
		check  Check
		out    Output
		passes bool
	}{
		"not there":             {Check{Kind: OutputNotExists}, Output{}, true},
		"there all the same":    {Check{Kind: OutputNotExists}, Output{Exists: true}, false},
		"no directory any more": {Check{Kind: OutputNotExists}, Output{Problem: "it is no directory"}, false},
		"nothing to look into":  {Check{Kind: OutputExists}, Output{Problem: "it is no directory"}, false},
		"there, unreadable":     {Check{Kind: OutputExists}, Output{Exists: true, Problem: "a link"}, true},
		"unreadable":            {Check{Kind: OutputNotContains, Text: "x"}, Output{Exists: true, Problem: "a link"}, false},
		"the answer":            {answer, Output{Exists: true, Data: []byte("\ufeff yES\n")}, true},
		"another answer":        {answer, Output{Exists: true, Data: []byte("yes, it is")}, false},
		"no answer":             {answer, Output{Exists: true, Data: []byte(" \n")}, false},
	} {
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
		passed, evidence := checkOf(t, c).Verdict(Output{Exists: true, Data: []byte(text)})
		assert.False(t, passed)
		assert.Contains(t, evidence, "too many for a pattern of")
	}
	passed, evidence := checkOf(t, `regex_match , "pattern": "a{20}\\\"$"`).Verdict(
		Output{Exists: true, Data: []byte(text[3<<20:])})
	assert.True(t, passed, "a large file alone is no fault: %s", evidence)
}

// TestValuesThatDiffer: no value is another's of another type, or in another order.
func TestValuesThatDiffer(t *testing.T) {
	t.Parallel()
	for _, pair := range []string{
		"1 true", "0 false", "0 null", `"1" 1`, `"" null`, "[] {}", "[] null", "{} null", "[1,2] [2,1]", "1e400 1e401",
		"0.1 0.10000000000000000001",
	} {
		one, other, _ := strings.Cut(pair, " ")
		a, err := decodeJSON([]byte(one))
		require.NoError(t, err)
		b, err := decodeJSON([]byte(other))
		require.NoError(t, err)
		assert.False(t, sameJSON(a, b), pair)
	}
}
