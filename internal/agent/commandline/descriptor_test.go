package commandline

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

// TestCommandLines holds every command line against a golden file: with nothing
// given, and with all that can be.
func TestCommandLines(t *testing.T) {
	t.Parallel()
	dollar := metric.MustValue("1.5")
	var text strings.Builder
	for _, tool := range All() {
		set := map[string]string{}
		for _, name := range append(tool.Keys[:1:1], tool.Passed...) {
			set[name] = "value of " + name
		}
		for _, task := range []Task{
			{Prompt: "Do it.", Home: "/home/agent", Getenv: func(string) string { return "" }},
			{
				Prompt: "Do it.", Model: "some/model", Home: "/home/agent", Bare: true, MaxCostUSD: &dollar,
				Getenv: func(name string) string { return set[name] },
			},
		} {
			line := tool.Line(task)
			text.Write(marshal(map[string]any{
				"args": line.Args, "env": line.Env, "stdin": line.Stdin,
				"files": line.Files,
			}))
		}
	}
	golden.Equal(t, "lines.golden", text.String())
}

func TestCursorReadsLongPromptsFromAFile(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", maxArgument)
	line := cursorLine(Task{Prompt: long, Home: "/home/agent"})
	assert.Less(t, len(line.Args[len(line.Args)-1]), 200)
	assert.Equal(t, long, line.Files[cursorPrompt])
}

func marshal(value any) []byte {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return []byte(text.String())
}

// TestTables: what the rest of the program asks of all agents together comes from
// the descriptors, and what several have is in a list once.
func TestTables(t *testing.T) {
	t.Parallel()
	table := Table{
		{Name: "parrot", Private: []string{".parrot"}, Config: []string{"AGENTS.md", "PARROT.md"}},
		{Name: "crow", Private: []string{".crow"}, Config: []string{"AGENTS.md"}, Personal: []string{".crow/mine/**"}},
	}
	assert.Equal(t, []string{"parrot", "crow"}, table.Names())
	assert.Equal(t, []string{".parrot", ".crow"}, table.Private())
	config, personal := table.Config()
	assert.Equal(t, []string{"AGENTS.md", "PARROT.md"}, config)
	assert.Equal(t, []string{".crow/mine/**"}, personal)
}

// TestDescriptorsAreWhole: no descriptor lacks what the rest of the program asks
// of it, and every login lies in what isolation hides.
func TestDescriptorsAreWhole(t *testing.T) {
	t.Parallel()
	for _, d := range All() {
		for _, text := range []string{d.Name, d.Program, d.Install, d.Oldest, d.Skills} {
			assert.NotEmpty(t, text, d.Name)
		}
		assert.NotEmpty(t, d.Keys, d.Name)
		assert.NotEmpty(t, d.Config, d.Name)
		for _, login := range d.Logins {
			hidden := false
			for _, private := range d.Private {
				hidden = hidden || login.Path == private || strings.HasPrefix(login.Path, private+"/")
			}
			assert.True(t, hidden, "%s: %s", d.Name, login.Path)
		}
	}
}
