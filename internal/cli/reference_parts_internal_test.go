package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// referencePart is what is made of a table within a page that people write.
type referencePart struct{ page, name, text string }

func referenceParts(t *testing.T) []referencePart {
	inputs, outputs := actionTables(t)
	return []referencePart{
		{"variables.md", "variables", variableTables()},
		{"action.md", "inputs", inputs},
		{"action.md", "outputs", outputs},
	}
}

// variableTables are the variables of the environment, a table for each group.
func variableTables() string {
	text := ""
	for _, group := range variables() {
		text += "### " + group.title + "\n\n| variable | |\n|---|---|\n"
		for _, one := range group.list {
			text += fmt.Sprintf("| `%s` | %s |\n", one.name, one.meaning)
		}
		text += "\n"
	}
	return strings.TrimSuffix(text, "\n")
}

// actionTables are the inputs and outputs of the action, in the order of action.yml.
func actionTables(t *testing.T) (inputs, outputs string) {
	t.Helper()
	text, err := os.ReadFile("../../action.yml")
	require.NoError(t, err)
	var action struct{ Inputs, Outputs yaml.MapSlice }
	require.NoError(t, yaml.Unmarshal(text, &action))
	require.NotEmpty(t, action.Outputs)
	field := func(item yaml.MapItem, name string) string {
		fields, is := item.Value.(map[string]any)
		require.True(t, is, "%s: %T", item.Key, item.Value)
		value, _ := fields[name].(string)
		return value
	}
	inputs = "| input | what it is | default |\n|---|---|---|\n"
	for _, item := range action.Inputs {
		standard := field(item, "default")
		switch {
		case strings.HasPrefix(standard, "$"):
			standard = "the workflow's own"
		case standard != "":
			standard = "`" + standard + "`"
		}
		about, empty, _ := strings.Cut(field(item, "description"), "; empty for ")
		assert.NotEmpty(t, about, item.Key)
		inputs += fmt.Sprintf("| `%s` | %s | %s |\n", item.Key, about, standard+empty)
	}
	outputs = "| output | what it is, and the modes that set it |\n|---|---|\n"
	for _, item := range action.Outputs {
		assert.NotEmpty(t, field(item, "description"), item.Key)
		outputs += fmt.Sprintf("| `%s` | %s |\n", item.Key, field(item, "description"))
	}
	return inputs, outputs
}
