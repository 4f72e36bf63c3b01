package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
)

// TestToolConfigsAreInTheDocs holds the page about the environment of evaluations
// against the configuration of tools that is passed.
func TestToolConfigsAreInTheDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/reference/environment.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "## What does not")
	require.True(t, found)
	for _, tool := range program.ToolConfigs() {
		files := make([]string, len(tool.Files))
		for i, file := range tool.Files {
			files[i] = "`" + file + "`"
		}
		row := "| `" + tool.Tool + "` | " + strings.Join(files, ", ") + " | "
		if tool.Variable != "" {
			row += "`" + tool.Variable + "` "
		}
		assert.Contains(t, rest, "\n"+row+"|\n")
	}
}
