package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// trees are the commands of both binaries, as a machine without any variables has them.
func trees() []*cobra.Command {
	env := Env{Args: []string{"--help"}, Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}
	list := []*cobra.Command{newIterateCommand(env), newSchedulerCommand(env)}
	for _, root := range list {
		Run(nil, env, root) //nolint:staticcheck // --help asks for no context
	}
	return list
}

// walk visits the commands that people see, from the root on.
func walk(cmd *cobra.Command, visit func(*cobra.Command)) {
	if cmd.Hidden || cmd.Name() == "help" {
		return
	}
	visit(cmd)
	for _, sub := range cmd.Commands() {
		walk(sub, visit)
	}
}

// TestEveryCommandIsWhole holds that each command has a purpose, an example and a
// next command, that all three name commands and flags that exist, and that nothing is placed that
// does not exist.
func TestEveryCommandIsWhole(t *testing.T) {
	t.Parallel()
	roots := trees()
	seen := map[string]bool{}
	for _, root := range roots {
		walk(root, func(cmd *cobra.Command) {
			path := cmd.CommandPath()
			seen[path] = true
			here, known := placed(cmd)
			require.True(t, known, "%s: enter it in surface()", path)
			assert.Equal(t, cmd.HasParent(), here.group != "", path)
			assert.NotEmpty(t, cmd.Short, path)
			assert.NotContains(t, cmd.Short, ". ", "%s: one sentence", path)
			assert.LessOrEqual(t, len(cmd.Short), 100, path)
			assert.True(t, cmd.Long != "" || !cmd.HasSubCommands(), path)
			require.NotEmpty(t, cmd.Example, path)
			assert.Contains(t, cmd.Example, path, "an example of another command")
			for _, line := range append(strings.Split(cmd.Example, "\n"), here.next) {
				holds(t, roots, path, line)
			}
			assert.NotEqual(t, path, here.next, "something else comes next")
			help := usage(cmd)
			assert.Contains(t, help, "\nNext: "+here.next+"\n")
			assert.NotContains(t, help, "Aliases", "old names are for those who know them")
		})
	}
	for _, p := range surface() {
		assert.True(t, seen[p.path], "%s does not exist", p.path)
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
			assert.NotContains(t, cmd.Aliases, words[min(len(words)-1, strings.Count(cmd.CommandPath(), " "))], "%s: %s: an old name", path, part)
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

// TestOneVerbHasOneMeaning: a verb that is in both binaries, or at several places, is
// made by the same code or says the same in its first word.
func TestOneVerbHasOneMeaning(t *testing.T) {
	t.Parallel()
	first := map[string]string{
		"validate": "Check", "doctor": "Say|Find", "eval": "Run", "apply": "Merge|Make", "undo": "Take|Make", "explain": "Say",
		"status": "Show", "new": "Write", "keys": "List", "prune": "Remove", "completion": "Print",
	}
	times := map[string]int{}
	for _, root := range trees() {
		walk(root, func(cmd *cobra.Command) {
			if cmd.HasParent() {
				times[cmd.Name()]++
				word, _, _ := strings.Cut(cmd.Short, " ")
				if verbs, several := first[cmd.Name()]; several {
					assert.Contains(t, strings.Split(verbs, "|"), word, cmd.CommandPath())
				}
			}
		})
	}
	for verb, n := range times {
		assert.True(t, n == 1 || first[verb] != "", "%s has %d meanings: enter it here", verb, n)
	}
}

// TestFlagsMeanTheSameEverywhere: what people give to many commands has one name, and one type, everywhere.
func TestFlagsMeanTheSameEverywhere(t *testing.T) {
	t.Parallel()
	withoutJSON := map[string]string{
		"iterate watch": "it serves a page", "iterate tasks": "a group", "iterate shards": "a group",
		"iterate completion": "it prints a script", "scheduler completion": "it prints a script",
	}
	filesOfThisMachine := map[string]bool{ // who reads or writes autoloop.json, transcripts or copies of issues
		"iterate": true, "iterate begin": true, "iterate propose": true, "iterate publish": true, "iterate log": true, "iterate page": true, "iterate watch": true,
		"iterate status": true, "iterate validate": true, "iterate new": true, "iterate keys": true, "iterate prune": true, "scheduler": true,
		"iterate demo": true, // its repository
	}
	kinds := map[string]string{}
	for _, root := range trees() {
		walk(root, func(cmd *cobra.Command) {
			for _, name := range []string{"agent", "agent-command", "model", "json", "local", "dir", "repo", "remote", "yes", "jobs", "isolation", "judge", "judge-model", "budget-usd", "html"} {
				if flag := cmd.Flag(name); flag != nil {
					kind, known := kinds[name]
					assert.True(t, !known || kind == flag.Value.Type(), "%s --%s is a %s", cmd.CommandPath(), name, flag.Value.Type())
					kinds[name] = flag.Value.Type()
				}
			}
			if cmd.Flag("agent") != nil {
				for _, name := range []string{"agent-command", "model", "json"} {
					assert.NotNil(t, cmd.Flag(name), "%s has --agent and no --%s", cmd.CommandPath(), name)
				}
			}
			assert.Equal(t, cmd.Flag("repo") != nil, cmd.Flag("local") != nil, cmd.CommandPath())
			assert.True(t, cmd.Flag("remote") == nil || cmd.Flag("local") != nil, "%s can use a remote and cannot be kept from it", cmd.CommandPath())
			assert.True(t, cmd.Flag("json") != nil || withoutJSON[cmd.CommandPath()] != "", "%s has no --json", cmd.CommandPath())
			assert.True(t, cmd.Flag("json") == nil || withoutJSON[cmd.CommandPath()] == "", "%s has --json", cmd.CommandPath())
			assert.Equal(t, filesOfThisMachine[cmd.CommandPath()], cmd.LocalNonPersistentFlags().Lookup("dir") != nil || cmd.PersistentFlags().Lookup("dir") != nil, "%s --dir", cmd.CommandPath())
		})
	}
}

func TestOldNamesStillWork(t *testing.T) {
	t.Parallel()
	root := trees()[0]
	for old, now := range map[string]string{"tasks compare": "iterate tasks eval", "score": "iterate score"} {
		cmd, _, err := root.Find(strings.Fields(old))
		require.NoError(t, err)
		assert.Equal(t, now, cmd.CommandPath())
	}
	var out bytes.Buffer
	env := Env{Args: []string{"--help"}, Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}
	require.Zero(t, Run(t.Context(), env, newIterateCommand(env)))
	assert.NotContains(t, out.String(), "\n  score ", "hidden")
	at := -1
	for _, group := range []string{groupRun, groupLook, groupWrite, groupSuites, groupGitHub, groupScripts, "Flags"} {
		found := strings.Index(out.String(), "\n"+group+":\n")
		assert.Greater(t, found, at, group)
		at = found
	}
}
