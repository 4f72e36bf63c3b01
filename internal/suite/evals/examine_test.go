package evals

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExamine(t *testing.T) {
	t.Parallel()
	parsed, problems := Parse("e", []byte(`[
		{"id": 1, "prompt": "Write  hello world", "expectations": ["it greets"]},
		{"id": 2, "prompt": "write hello WORLD", "deterministic_checks": [
			{"type": "file_contains", "file": "a", "text": "Hello world"},
			{"type": "regex_match", "file": "a", "pattern": ".*"},
			{"type": "json_field_count", "file": "a", "path": "$", "operator": "gte", "value": 0},
			{"type": "shell_command", "command": "test -f a || true"}]},
		{"id": 3, "prompt": "Do nothing", "deterministic_checks": [{"type": "file_not_exists", "file": "a"}]},
		{"id": 4, "prompt": "Sum it", "expectations": ["right", "wrong", "mixed"], "deterministic_checks": [{"type": "json_field_equals", "file": "a", "path": "sum", "value": 4}]}
	]`), anyFile)
	require.Empty(t, problems)
	var history []PastCase
	for run := range 3 {
		history = append(history, PastCase{ID: "4", Grading: Grading{Expectations: []Graded{
			{Text: "right", Passed: true},
			{Text: "wrong"},
			{Text: "mixed", Passed: run == 1},
			{Text: "json_field_equals a $.sum 4", Passed: run == 2},
		}}})
	}
	found := map[string]int{}
	for _, finding := range Examine(parsed, []Trigger{{"a", true}, {"b", true}}, history) {
		found[finding.Case+" "+finding.Kind]++
		assert.NotEmpty(t, finding.Message)
	}
	assert.Equal(t, map[string]int{
		"1 no-check": 1, "2 duplicate": 1, "2 answer-in-prompt": 1, "2 vacuous": 3, "3 idle": 1, "4 always-passes": 1,
		"4 always-fails": 1, " one-sided": 1,
	}, found)
	both := []Trigger{{"a", true}, {"b", false}}
	assert.Equal(t, "few-cases", Examine(EvalSuite{Cases: parsed.Cases[3:]}, both, history[:2])[0].Kind)
	assert.Len(t, Examine(EvalSuite{Cases: parsed.Cases[3:]}, both, history[:2]), 1, "two runs say nothing")
}

func TestExamineTriggers(t *testing.T) {
	t.Parallel()
	parsed := EvalSuite{}
	for _, id := range []string{"1", "2", "3"} {
		parsed.Cases = append(parsed.Cases,
			Case{ID: id, Prompt: "prompt " + id, Checks: []Check{{Kind: OutputExists, File: "a"}}})
	}
	for name, c := range map[string]struct {
		triggers []Trigger
		kinds    []string
		says     string
	}{
		"none":       {nil, []string{"no-triggers"}, "there is no evals/trigger-eval.json"},
		"both kinds": {[]Trigger{{"a", true}, {"b", false}}, nil, ""},
		"no false": {
			[]Trigger{{"a", true}, {"b", true}},
			[]string{"one-sided"},
			"none of the 2 trigger queries has `should_trigger: false`",
		},
		"no true": {
			[]Trigger{{"a", false}},
			[]string{"one-sided"},
			"none of the 1 trigger queries has `should_trigger: true`",
		},
		"alike": {
			[]Trigger{{"Write  notes", true}, {"write notes", true}, {"b", false}},
			[]string{"duplicate"},
			`"write notes" is "Write  notes" again`,
		},
		"alike, and one": {[]Trigger{{"a", true}, {"A ", true}}, []string{"duplicate", "one-sided"}, "again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var kinds []string
			said := ""
			for _, finding := range Examine(parsed, c.triggers, nil) {
				kinds, said = append(kinds, finding.Kind), said+finding.Message
			}
			assert.Equal(t, c.kinds, kinds)
			assert.Contains(t, said, c.says)
		})
	}
}
