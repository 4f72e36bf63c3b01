package tests

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// outcomeOf is a file with one run of two tasks.
func outcomeOf(label string, passed int, tokens string) string {
	return fmt.Sprintf(`{"configLabel": %q, "scores": [
  {"taskId": "add-flag", "objective": {"passed": %d, "total": 4}, "judge": null, "cost": {"tokens": %s, "toolCalls": 3, "steps": 2, "wallClockMs": 900, "costUsd": 0}},
  {"taskId": "fix-bug", "objective": {"passed": 2, "total": 2}, "cost": {"tokens": 0}}
]}`, label, passed, tokens)
}

func TestCompare(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"base.json": outcomeOf("main", 2, "0"), "better.json": outcomeOf("pr", 4, "0"),
		"worse.json": outcomeOf("pr", 1, "0"),
		"nan.json":   outcomeOf("pr", 4, "NaN"),
	})
	with := func(lines ...string) string { return " --settings " + w.settings(lines...) }
	for _, c := range []struct {
		args, verdict string
		code          int
		promotable    bool
	}{
		{"base.json better.json", "improved", 0, true},
		{"base.json base.json", "neutral", 0, false},
		{"base.json better.json" + with("min-composite-gain: 0.5"), "neutral", 0, false},
		{"base.json worse.json", "regressed", 1, false},
		{
			"better.json base.json" + with("regression-composite-drop: 0.5",
				"objective-drop-is-regression: false"), "neutral",
			0, false,
		},
		{"base.json nan.json", "regressed", 1, false},
	} {
		a := w.binary("iterate", append([]string{"compare", "--json"}, strings.Fields(c.args)...)...)
		assert.Equal(t, c.code, a.code, "%s: %s", c.args, a.stderr)
		assert.Empty(t, a.stderr, c.args)
		var found struct {
			Verdict    string
			Promotable bool
		}
		require.NoError(t, json.Unmarshal([]byte(a.stdout), &found), c.args)
		assert.Equal(t, c.verdict, found.Verdict, c.args)
		assert.Equal(t, c.promotable, found.Promotable, c.args)
	}
	assert.Empty(t, w.git("for-each-ref", "refs/heads/memory", "refs/heads/autoloop"), "it writes nothing")
}
