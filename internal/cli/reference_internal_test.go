package cli

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/cure"
	"github.com/org/autoloop/internal/program"
)

var update = flag.Bool("update", false, "write docs/reference")

const (
	referenceDir = "../../docs/reference"
	generated    = "<!-- Generated: go test ./internal/cli -run TestReference -update -->\n\n"
)

// TestReference holds the pages of docs/reference against the tables of the code
// that they are made of. With -update it writes them.
func TestReference(t *testing.T) {
	t.Parallel()
	pages := map[string]string{}
	for _, add := range []func(*testing.T, map[string]string){errorPages, commandPages, keyPages, eventPages, filePages} {
		add(t, pages)
	}
	for name, text := range pages {
		text = generated + strings.TrimRight(text, "\n") + "\n"
		pages[name] = text
		assert.LessOrEqual(t, strings.Count(text, "\n"), 150, "%s is too long to be read: split it", name)
		if *update {
			file := filepath.Join(referenceDir, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
		have, err := os.ReadFile(filepath.Join(referenceDir, name))
		require.NoError(t, err)
		assert.Equal(t, text, string(have), "run: go test ./internal/cli -run TestReference -update")
	}
	require.NoError(t, filepath.WalkDir(referenceDir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		name, _ := filepath.Rel(referenceDir, file)
		if strings.HasPrefix(string(text), generated) {
			assert.Contains(t, pages, filepath.ToSlash(name), "nothing makes this page any more: remove it")
		}
		return err
	}))
}

// errorPages are a page for each code, and one that lists them.
func errorPages(_ *testing.T, pages map[string]string) {
	list := "# Errors\n\n" +
		"An error of a command is one line on standard error that says what is wrong and what to do. Where that needs more than a line, it\n" +
		"ends with a code: `iterate explain AL0301` prints the page that is linked here, without the network. The reasons why a program\n" +
		"does not run or a candidate was not kept end with the same codes, in `scheduler status`, in comments and in the ledger. A code never\n" +
		"changes its meaning. What ends a command is in the [exit codes](commands.md#exit-codes).\n\n| code | error |\n|---|---|\n"
	for _, entry := range cure.All() {
		pages["errors/"+string(entry.Code)+".md"] = entry.Markdown(1)
		list += "| [" + string(entry.Code) + "](errors/" + string(entry.Code) + ".md) | " + entry.Title + " |\n"
	}
	pages["errors.md"] = list
}

// commandPages are what `--help` prints, a page for each command.
func commandPages(_ *testing.T, pages map[string]string) {
	list := "# Commands\n\nEach page is what `--help` prints. `status`, `validate`, `new`, `keys`, `prune` and `explain` are the same in both binaries.\n\n" +
		"## Exit codes\n\n| code | means |\n|---|---|\n" +
		"| 0 | the command did its work, whatever was decided |\n| 1 | it could not do its work |\n| 2 | it was asked for something that makes no sense |\n"
	for _, root := range trees() {
		list += "\n## `" + root.Name() + "`\n\n| command | |\n|---|---|\n"
		walk(root, func(cmd *cobra.Command) {
			name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".md"
			list += fmt.Sprintf("| [`%s`](commands/%s) | %s |\n", cmd.CommandPath(), name, cmd.Short)
			text := strings.TrimSpace(cmd.Long)
			if text == "" {
				text = cmd.Short
			}
			pages["commands/"+name] = fmt.Sprintf("# `%s`\n\n%s.\n\n```text\n%s\n\n%s```\n", cmd.CommandPath(), cmd.Short, text, usage(cmd))
		})
	}
	pages["commands.md"] = list
}

// keyPages are the keys of a program file.
func keyPages(_ *testing.T, pages map[string]string) {
	text := "# Keys of a program file\n\nWhat `scheduler keys` prints. A key in **bold** changes what a number means: with another value of it the program begins a new baseline.\n" +
		"How a program is written is in [Write a program](../howto/write-a-program.md).\n"
	group := ""
	for _, key := range program.Keys() {
		if key.Group != group {
			group = key.Group
			text += "\n## " + group + "\n\n| key | type | meaning | default |\n|---|---|---|---|\n"
		}
		name := "`" + key.Name + "`"
		if key.ChangesNumber() {
			name = "**" + name + "**"
		}
		text += fmt.Sprintf("| %s | %s | %s | %s |\n", name, key.Type, link.ReplaceAllString(key.Help, "$1"), link.ReplaceAllString(key.Default, "$1"))
	}
	pages["keys.md"] = text
}
