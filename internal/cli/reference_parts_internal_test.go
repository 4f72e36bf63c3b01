package cli

import (
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/org/autoloop/internal/github/lifecycle"
)

// referencePart is what is made of a table within a page that people write.
type referencePart struct{ page, name, text string }

func referenceParts(t *testing.T) []referencePart {
	inputs, outputs := actionTables(t)
	return []referencePart{
		{"action.md", "inputs", inputs},
		{"action.md", "outputs", outputs},
		{"ledger.md", "events", eventList(t)},
		{"../explain/lifecycle.md", "lifecycle", lifecycleTable()},
	}
}

// eventList is every kind of event with what it says.
func eventList(t *testing.T) string {
	t.Helper()
	s := newSchemas(t, "../history/event.go")
	var lines []string
	for _, name := range s.names {
		if s.isEvent(name) {
			lines = append(lines, strings.Replace("- "+s.about[name], name, "`"+strings.ToLower(name)+"`", 1))
		}
	}
	return strings.Join(lines, "\n")
}

// lifecycleTable is what happens when people and CI do something.
func lifecycleTable() string {
	lines := []string{
		"| what happens | a draft is open, nothing runs | an iteration waits for CI | an agent works |",
		"|---|---|---|---|",
	}
	for _, row := range lifecycle.Table {
		if row.Happens != "" {
			cells := strings.Join([]string{row.Happens, row.Draft, row.Waits, row.Works}, " | ")
			lines = append(lines, strings.ReplaceAll("| "+cells+" |", "  ", " "))
		}
	}
	return strings.Join(lines, "\n")
}

// actionTables are the inputs and outputs of the action, in the order of action.yml.
func actionTables(t *testing.T) (inputs, outputs string) {
	t.Helper()
	text, err := os.ReadFile("../../action.yml")
	require.NoError(t, err)
	var action struct{ Inputs, Outputs yaml.Node }
	require.NoError(t, yaml.Unmarshal(text, &action))
	require.NotEmpty(t, action.Outputs.Content)
	inputs = "| input | what it is | default |\n|---|---|---|\n"
	for key, item := range entriesOf(t, action.Inputs) {
		standard := item["default"]
		switch {
		case strings.HasPrefix(standard, "$"):
			standard = "the workflow's own"
		case standard != "":
			standard = "`" + standard + "`"
		}
		about, empty, _ := strings.Cut(item["description"], "; empty for ")
		assert.NotEmpty(t, about, key)
		inputs += fmt.Sprintf("| `%s` | %s | %s |\n", key, about, standard+empty)
	}
	outputs = "| output | what it is, and the modes that set it |\n|---|---|\n"
	for key, item := range entriesOf(t, action.Outputs) {
		assert.NotEmpty(t, item["description"], key)
		outputs += fmt.Sprintf("| `%s` | %s |\n", key, item["description"])
	}
	return inputs, outputs
}

// entriesOf are the entries of a mapping in their order.
func entriesOf(t *testing.T, node yaml.Node) iter.Seq2[string, map[string]string] {
	t.Helper()
	return func(yield func(string, map[string]string) bool) {
		for i := 0; i+1 < len(node.Content); i += 2 {
			fields := map[string]string{}
			require.NoError(t, node.Content[i+1].Decode(&fields))
			if !yield(node.Content[i].Value, fields) {
				return
			}
		}
	}
}
