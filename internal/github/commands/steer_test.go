package commands_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/tests/golden"
)

func TestCommands(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"run", "RESUME", "status", "reactivate", "pause", "pause until\tthe @release", "speed: pause", "speed:resume",
		"set target-metric 0.95", "set target_metric -3", "undo 12", "undo #12", "try a cache: it helps",
		"set the cache to 4", "run it with two threads", "undo the last thing",
		"", "set target-metric", "set target-metric 85%", "set target-metric nan", // wrong ones say what to do
		"undo", "undo x", "undo -1", "undo 99999999999999999999",
	} {
		list, rest := commands.Parse("/autoloop " + text)
		require.Len(t, list, 1, text)
		assert.Empty(t, rest, text)
		c := list[0]
		golden.Row(t, fmt.Sprintf("%q", text), fmt.Sprintf("%s program=%q #%d %q target=%s %s",
			c.Kind, c.Program, c.Iteration, c.Text, fmt.Sprint(c.Target), c.Problem))
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
