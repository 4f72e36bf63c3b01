package cli

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/cure"
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
	for _, add := range []func(*testing.T, map[string]string){errorPages} {
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
