package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// trees are the commands of both binaries as `--help` shows them.
func trees() []*cobra.Command {
	list := Commands()
	for _, root := range list {
		//nolint:staticcheck // --help asks for no context
		Run(nil, Env{Args: []string{"--help"}, Stdout: io.Discard, Stderr: io.Discard}, root)
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

// TestFlagsMeanTheSameEverywhere: a flag of many commands has one type everywhere, and
// those that are of use together come together.
func TestFlagsMeanTheSameEverywhere(t *testing.T) {
	t.Parallel()
	kinds := map[string]string{}
	for _, root := range trees() {
		walk(root, func(cmd *cobra.Command) {
			path := cmd.CommandPath()
			for _, name := range []string{
				"agent", "agent-command", "model", "json", "local", "dir", "repo", "remote",
				"yes", "jobs", "isolation", "judge", "judge-model", "budget-usd", "html",
			} {
				if flag := cmd.Flag(name); flag != nil {
					kind, known := kinds[name]
					assert.True(t, !known || kind == flag.Value.Type(), "%s --%s is a %s", path, name,
						flag.Value.Type())
					kinds[name] = flag.Value.Type()
				}
			}
			if cmd.Flag("agent") != nil {
				for _, name := range []string{"agent-command", "model", "json"} {
					assert.NotNil(t, cmd.Flag(name), "%s has --agent and no --%s", path, name)
				}
			}
			assert.Equal(t, cmd.Flag("repo") != nil, cmd.Flag("local") != nil, path)
			assert.True(t, cmd.Flag("repo") == nil || cmd.Flag("programs") != nil, path)
			assert.True(t, cmd.Flag("programs") == nil || cmd.Flag("repo") != nil || path == "iterate apply",
				"%s has no use for --programs", path)
			assert.True(t, cmd.Flag("remote") == nil || cmd.Flag("local") != nil,
				"%s can use a remote and cannot be kept from it", path)
			assert.Equal(t, path != "iterate job", cmd.Flag("json") != nil, "%s --json", path)
		})
	}
}

// TestFlagsAreFew bounds the names of flags over all commands, those of cobra and hidden ones too.
func TestFlagsAreFew(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	var count func(*cobra.Command)
	count = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) { names[flag.Name] = true })
		for _, sub := range cmd.Commands() {
			count(sub)
		}
	}
	for _, root := range trees() {
		count(root)
	}
	assert.LessOrEqual(t, len(names), 60)
}

// TestHelpIsShort: few commands, and pages that fit a screen.
func TestHelpIsShort(t *testing.T) {
	t.Parallel()
	root, leaves := trees()[0], 0
	first := 1 // help, which cobra adds
	for _, cmd := range root.Commands() {
		if cmd.Name() != "help" {
			first++
		}
	}
	assert.LessOrEqual(t, first, 22)
	walk(root, func(cmd *cobra.Command) {
		if cmd.HasParent() && (cmd.Name() == "skill" || !cmd.HasSubCommands()) {
			leaves++
		}
		if cmd.HasParent() && cmd.Name() != "skill" && cmd.Name() != "eval" {
			assert.LessOrEqual(t, strings.Count(cmd.Long+"\n\n"+cmd.UsageString(), "\n"), 40, cmd.CommandPath())
		}
	})
	assert.LessOrEqual(t, leaves, 28)
}
