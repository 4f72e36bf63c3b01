package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/actions"
)

// trees are the commands of both binaries as `--help` shows them.
func trees() []*cobra.Command {
	list := Commands()
	for _, root := range list {
		//nolint:staticcheck // --help asks for no context
		Run(nil, Env{Args: []string{"--help"}, Stdout: io.Discard, Step: actions.Step{Stderr: io.Discard}}, root)
	}
	return list
}

// walk visits our commands that people see, from the root on.
func walk(cmd *cobra.Command, visit func(*cobra.Command)) {
	if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" {
		return
	}
	visit(cmd)
	for _, sub := range cmd.Commands() {
		walk(sub, visit)
	}
}

// TestEveryCommandIsWhole holds that each command has a purpose in one sentence, and
// an example that names commands and flags that exist.
func TestEveryCommandIsWhole(t *testing.T) {
	t.Parallel()
	roots := trees()
	for _, root := range roots {
		walk(root, func(cmd *cobra.Command) {
			path := cmd.CommandPath()
			assert.NotEmpty(t, cmd.Short, path)
			assert.NotContains(t, cmd.Short, ". ", "%s: one sentence", path)
			assert.True(t, cmd.Long != "" || !cmd.HasSubCommands(), path)
			assert.True(t, cmd.GroupID != "" || cmd.Parent() != roots[0], "%s is in no group", path)
			assert.Contains(t, cmd.Example, path)
			for line := range strings.SplitSeq(cmd.Example, "\n") {
				holds(t, roots, path, line)
			}
		})
	}
}

// holds checks that a line which begins with one of the binaries names a command
// and flags that exist.
func holds(t *testing.T, roots []*cobra.Command, path, line string) {
	t.Helper()
	line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
	for part := range strings.SplitSeq(strings.ReplaceAll(line, "|", "&&"), "&&") {
		words := strings.Fields(part)
		for _, root := range roots {
			if len(words) == 0 || words[0] != root.Name() {
				continue
			}
			cmd, _, err := root.Find(words[1:])
			require.NoError(t, err, "%s: %s", path, part)
			assert.NotContains(t, cmd.Aliases, words[min(len(words)-1, strings.Count(cmd.CommandPath(), " "))],
				"%s: %s: an old name", path, part)
			assert.False(t, cmd.Hidden, "%s: %s: an old name", path, part)
			for _, word := range words[1:] {
				name, isFlag := strings.CutPrefix(word, "--")
				if name, _, _ = strings.Cut(name, "="); isFlag {
					assert.NotNil(t, cmd.Flag(name), "%s: %s has no --%s", path, cmd.CommandPath(), name)
				}
			}
		}
	}
}
