package commands_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/metric"
)

func value(text string) *metric.Value {
	v := metric.MustValue(text)
	return &v
}

func TestCommands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]commands.Command{
		"run":                       {Kind: commands.Run},
		"RESUME":                    {Kind: commands.Resume},
		"status":                    {Kind: commands.Status},
		"reactivate":                {Kind: commands.Reactivate},
		"pause":                     {Kind: commands.Pause},
		"pause until\tthe @release": {Kind: commands.Pause, Text: "until the @\u200brelease"},
		"speed: pause":              {Kind: commands.Pause, Program: "speed"},
		"speed:resume":              {Kind: commands.Resume, Program: "speed"},
		"set target-metric 0.95":    {Kind: commands.SetTarget, Target: value("0.95")},
		"set target_metric -3":      {Kind: commands.SetTarget, Target: value("-3")},
		"undo 12":                   {Kind: commands.Undo, Iteration: 12},
		"undo #12":                  {Kind: commands.Undo, Iteration: 12},
		"try a cache: it helps":     {Kind: commands.Instruct, Text: "try a cache: it helps"},
		"set the cache to 4":        {Kind: commands.Instruct, Text: "set the cache to 4"},
		"run it with two threads":   {Kind: commands.Instruct, Text: "run it with two threads"},
		"undo the last thing":       {Kind: commands.Instruct, Text: "undo the last thing"},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			list, rest := commands.Parse("/autoloop " + text)
			require.Len(t, list, 1)
			assert.Equal(t, want, list[0])
			assert.Empty(t, rest)
		})
	}
}

func TestWrongCommandsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"": "say what to do", "set target-metric": "one number", "set target-metric 85%": "85% is no number",
		"set target-metric nan": "no number",
		"undo":                  "which iteration", "undo x": "no iteration", "undo -1": "no iteration",
		"undo 99999999999999999999": "no iteration",
	} {
		list, _ := commands.Parse("/autoloop " + text)
		require.Len(t, list, 1, text)
		assert.Equal(t, commands.Wrong, list[0].Kind, text)
		assert.Contains(t, list[0].Problem, says)
	}
}

func TestTextsThatAreNoCommand(t *testing.T) {
	t.Parallel()
	body := "Hello\r\n\r\n> /autoloop pause\n```\n/autoloop undo 1\n```\n~~~\n/autoloop resume\n~~~\n" +
		"    /autoloop run\nsee /autoloop status\n/autoloops\n"
	list, rest := commands.Parse(body)
	assert.Empty(t, list)
	assert.Equal(t, strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n")), rest)
}

// TestOnlyVisibleTextIsACommand: what GitHub shows as code or as a quotation, or does not
// show at all, asks for nothing.
func TestOnlyVisibleTextIsACommand(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"a comment": "<!--\n/autoloop run\n-->", "a comment in a paragraph": "see <!--\n/autoloop run\n--> this",
		"a fence in a longer one": "````\n```\n/autoloop run\n```\n/autoloop run\n````",
		"a fence in a list":       "- a\n  ```\n  /autoloop run\n  ```",
		"after a tab":             "see:\n\n\t/autoloop run", "pre": "<pre>\n\n/autoloop run\n</pre>",
		"an open fence":            "```\n/autoloop run",
		"a quotation without mark": "> so you said\n/autoloop run", "code over lines": "`\n/autoloop run\n`",
		"an attribute": "<a title=\"\n/autoloop run\n\">x</a>",
	} {
		list, rest := commands.Parse(body)
		assert.Empty(t, list, name)
		assert.Equal(t, body, rest, name)
	}
	for name, body := range map[string]string{
		"after a fence": "```\nx\n```\n/autoloop run", "after a comment": "<!-- x -->\n/autoloop run",
		"above a signature": "/autoloop run\n---\nme",
		"indented":          "  /autoloop run", "in an item of a list": "- please\n\n  /autoloop run",
		"after a quotation":  "> so you said\n\n/autoloop run",
		"with words in code": "/autoloop run\n`x`", "below a line": "please\n/autoloop run",
	} {
		list, _ := commands.Parse(body)
		assert.Len(t, list, 1, name)
	}
}

func TestTextAroundCommandsIsKept(t *testing.T) {
	t.Parallel()
	list, rest := commands.Parse("Please\n/autoloop pause\n/autoloop set target-metric 4\nthanks")
	assert.Len(t, list, 2)
	assert.Equal(t, "Please\nthanks", rest)
}

func FuzzParse(f *testing.F) {
	f.Add("/autoloop a: set target-metric 1e999999999\n```\n/autoloop")
	f.Add("/autoloop undo \u0000")
	f.Fuzz(func(t *testing.T, body string) {
		list, rest := commands.Parse(body)
		assert.LessOrEqual(t, len(rest), len(body))
		for _, c := range list {
			assert.NotEmpty(t, c.Kind)
			assert.LessOrEqual(t, len([]rune(c.Text)), 1000)
			assert.NotContains(t, c.Problem, "\n")
		}
	})
}
