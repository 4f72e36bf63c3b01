package evals

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOperatorsOfACount: each is one word, and compares as it says.
func TestOperatorsOfACount(t *testing.T) {
	t.Parallel()
	holds := map[string]func(a, b int) bool{
		"eq": func(a, b int) bool { return a == b }, "ne": func(a, b int) bool { return a != b },
		"gt":  func(a, b int) bool { return a > b },
		"gte": func(a, b int) bool { return a >= b }, "lt": func(a, b int) bool { return a < b },
		"lte": func(a, b int) bool { return a <= b },
	}
	parse := func(operator string) (Check, error) {
		text, err := json.Marshal(operator)
		require.NoError(t, err)
		suite, problems := Parse("e", []byte(
			`[{"id": 1, "prompt": "p", "deterministic_checks": [{"type": "json_field_count", "file": "f", "path": `+
				`"$", "count": 2, "operator": `+string(text)+`}]}]`), anyFile)
		if err := problems.Err(); err != nil {
			return Check{}, err
		}
		return suite.Cases[0].Checks[0], nil
	}
	for operator, want := range holds {
		check, err := parse(operator)
		require.NoError(t, err, operator)
		for count := range 5 {
			list := "[" + strings.TrimSuffix(strings.Repeat("0,", count), ",") + "]"
			passed, _ := check.Verdict(Output{Exists: true, Data: []byte(list)})
			assert.Equal(t, want(count, 2), passed, "%d %s 2", count, operator)
		}
	}
	for _, operator := range []string{"eq ne", "gt gte", "EQ", " eq", "=", "==", ">=", "eq\n", "e", "q n", "ge"} {
		_, err := parse(operator)
		require.ErrorContains(t, err, "is not one of eq, gt, gte, lt, lte, ne", operator)
	}
}

// anyOutput is what an executor may leave: JSON, JSON that is spoiled, text, bytes, nothing,
// or something that cannot be read.
func anyOutput(random *rand.Rand) Output {
	value, err := json.Marshal(anything(random, 3))
	if err != nil {
		return Output{}
	}
	switch random.IntN(9) {
	case 0:
		return Output{}
	case 1:
		return Output{Exists: true, Problem: "it is no regular file"}
	case 2:
		return Output{Problem: "it is no directory any more"}
	case 3:
		return Output{Exists: true, Data: value[:random.IntN(len(value))]}
	case 4:
		return Output{Exists: true, Data: append(value, []string{"{}", ",", "x", " 1"}[random.IntN(4)]...)}
	case 5:
		data := make([]byte, random.IntN(20))
		for i := range data {
			data[i] = byte(random.IntN(256))
		}
		return Output{Exists: true, Data: data}
	case 6:
		return Output{Exists: true, Data: append([]byte("\ufeff"), value...)}
	default:
		return Output{Exists: true, Data: append([]byte(" \n"), append(value, "\t\n"...)...)}
	}
}

// TestVerdictsOnAnything: a check and its opposite never both pass, none passes on what
// cannot be read, JSON is what encoding/json reads, and what is said is one line of text.
func TestVerdictsOnAnything(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(181, 182))
	path := func(text string) JSONPath {
		found, err := ParseJSONPath(text)
		require.NoError(t, err)
		return found
	}
	paths := []string{"$", "a", "[0]", "a[1]", `["b c"]`, "a.a"}
	passes := map[CheckKind]int{}
	for round := range 700 {
		out := anyOutput(random)
		at := paths[random.IntN(len(paths))]
		of := func(kind CheckKind) Check {
			return Check{
				Kind: kind, File: "f", Path: path(at), PathText: at, Value: anything(random, 1), Text: "a",
				Pattern: regexp.MustCompile("a"), Operator: "gte", Count: 1,
			}
		}
		verdict := func(check Check) bool {
			passed, evidence := check.Verdict(out)
			require.NotEmpty(t, evidence)
			require.NotContains(t, evidence, "\n", "round %d: %s", round, check.Kind)
			require.NotContains(t, evidence, "\x1b")
			require.True(t, utf8.ValidString(evidence), "round %d: %s: %q", round, check.Kind, evidence)
			require.Less(t, len(evidence), 2000)
			if passed {
				passes[check.Kind]++
			}
			return passed
		}
		text := strings.TrimPrefix(string(out.Data), "\ufeff")
		readable := out.Exists && out.Problem == ""
		valid := verdict(of(JSONValid))
		require.Equal(t, readable && json.Valid([]byte(text)), valid, "round %d: %q", round, out.Data)

		there, absent := verdict(of(JSONFieldExists)), verdict(of(JSONFieldAbsent))
		require.Equal(t, valid, there != absent, "round %d: of JSON one of the two holds, of anything else none", round)
		contains, lacks := verdict(of(OutputContains)), verdict(of(OutputNotContains))
		require.Equal(t, readable, contains != lacks, "round %d", round)
		require.Equal(t, readable && bytes.Contains(out.Data, []byte("a")), contains)
		require.Equal(t, contains, verdict(of(OutputMatches)), "a pattern of one letter is that letter")
		exists, gone := verdict(of(OutputExists)), verdict(of(OutputNotExists))
		require.Equal(t, out.Exists, exists)
		require.Equal(t, !out.Exists && out.Problem == "", gone, "what nobody can look at is not gone")

		equals := of(JSONFieldEquals)
		if verdict(equals) {
			require.True(t, there || equals.Value == nil, "round %d: only what is there equals something", round)
		}
		if count := of(JSONFieldCount); verdict(count) {
			require.True(t, there)
			require.True(t, strings.ContainsAny(text, "[{"), "round %d: only lists and objects are counted", round)
		}
		list := of(JSONArrayContains)
		whole := verdict(list)
		list.Partial = true
		require.True(t, !whole || verdict(list), "round %d: what is all of an entry is a part of it", round)
		if matches := of(JSONFieldMatches); verdict(matches) {
			require.True(t, there && strings.Contains(text, "a"))
		}
		if answer := (Check{Kind: exactAnswer, File: "f", Text: "Ada"}); verdict(answer) {
			require.Equal(t, "ada", strings.ToLower(strings.TrimSpace(text)))
		}
		require.False(t, verdict(Check{Kind: "later", File: "f"}), "a check that is not known does not pass")
	}
	for _, kind := range []CheckKind{
		JSONValid, JSONFieldExists, JSONFieldAbsent, OutputContains, OutputNotContains,
		OutputMatches, OutputExists, OutputNotExists, JSONFieldEquals, JSONFieldCount,
	} {
		assert.Positive(t, passes[kind], "%s", kind)
	}
}

// TestGradingsOfOthers have keys twice, in other letters, entries of other shapes: what is
// read of them is what they say, or nothing.
func TestGradingsOfOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want string // each entry as text=passed
		says string
	}{
		"text":           {`{"expectations": [{"text": "a", "passed": true}]}`, "a=true", ""},
		"an expectation": {`{"expectations": [{"expectation": "a", "passed": false}]}`, "a=false", ""},
		"both names": {
			`{"expectations": [{"expectation": "a", "text": "b", "passed": false}]}`,
			"b=false", "",
		},
		"an empty text": {
			`{"expectations": [{"expectation": "a", "text": " ", "passed": true}]}`,
			"a=true", "",
		},
		"blanks around it":         {`{"expectations": [{"text": " a\n", "passed": true}]}`, "a=true", ""},
		"nothing but its list":     {`{"expectations": []}`, "", ""},
		"a mark at its head":       {"\ufeff" + `{"expectations": []}`, "", ""},
		"a summary that is a text": {`{"summary": "good", "expectations": []}`, "", ""},
		"other keys": {
			`{"user_notes": {}, "expectations": [{"text": "a", "passed": true, "score": 7}]}`,
			"a=true", "",
		},
		"null":             {`null`, "", "it has no `expectations`"},
		"a list of null":   {`{"expectations": null}`, "", "it has no `expectations`"},
		"an entry of null": {`{"expectations": [null]}`, "", "expectations[0] needs a `text` and `passed`"},
		"a second without a verdict": {`{"expectations": [{"text": "a", "passed": true}, {"text": "b", "passed": ` +
			`null}]}`, "", "expectations[1] needs a `text` and `passed`"},
		"a verdict of 1":    {`{"expectations": [{"text": "a", "passed": 1}]}`, "", "is no grading: "},
		"a text of 1":       {`{"expectations": [{"text": 1, "passed": true}]}`, "", "is no grading: "},
		"an object of them": {`{"expectations": {"a": true}}`, "", "is no grading: "},
		"cut off":           {`{"expectations": [{"text": "a", "passed": true}`, "", "is no grading: "},
		"two of them":       {`{"expectations": []}{"expectations": []}`, "", "is no grading: "},
		"too large": {
			`{"expectations": []` + strings.Repeat(" ", 8<<20) + `}`, "",
			"has more than 8192 KiB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, err := ParseGrading([]byte(c.text))
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				assert.Empty(t, g)
				return
			}
			require.NoError(t, err)
			var list []string
			for _, entry := range g.Expectations {
				list = append(list, fmt.Sprintf("%s=%v", entry.Text, entry.Passed))
			}
			assert.Equal(t, c.want, strings.Join(list, " "))
		})
	}
}
