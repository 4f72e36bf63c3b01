package evals

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

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
			"2 trigger queries has `should_trigger:",
		},
		"no true": {
			[]Trigger{{"a", false}},
			[]string{"one-sided"},
			"1 trigger queries has `should_trigger:",
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
