package app_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
)

// TestTheEnvironmentIsInTheDocs holds the page about the environment of
// evaluations against what is passed.
func TestTheEnvironmentIsInTheDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/reference/environment.md")
	require.NoError(t, err)
	passes, rest, found := strings.Cut(string(text), "## What does not")
	require.True(t, found)
	named := map[string]bool{}
	for _, word := range regexp.MustCompile("`([A-Za-z_]+)`").FindAllStringSubmatch(passes, -1) {
		named[word[1]] = true
	}
	all := slices.Concat(process.Passed(), process.Caches())
	for _, name := range all {
		small := strings.HasSuffix(name, "_proxy") // "and in small letters"
		assert.True(t, named[name] || small, "%s is passed and not named", name)
	}
	for name := range named {
		if strings.ToUpper(name) == name && !slices.Contains([]string{"HOME", "TMPDIR", "AUTOLOOP", "AUTOLOOP_RESULT", "GIT_TERMINAL_PROMPT"}, name) {
			assert.Contains(t, all, name, "named and not passed")
		}
	}
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
