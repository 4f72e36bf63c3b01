package cli

import (
	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

func newKeysCommand(env Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "keys",
		Short:   "List the keys of a program file's frontmatter",
		Long:    "List every key that the frontmatter of a program may have: its type, its default and what it does, and whether\nits value changes what a measured number means, so that a change of it begins a new baseline.",
		Example: "  scheduler keys\n  scheduler keys --json",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return keys(env, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// link is a link of the reference page; on a terminal its text is enough.
var link = lazyregexp.New(`\[([^\]]+)\]\([^)]+\)`)

// keyInfo is one key in `scheduler keys --json`.
type keyInfo struct {
	Name          string `json:"name"`
	Type          string `json:"type"`
	Default       string `json:"default"`
	ChangesNumber bool   `json:"changes_number"`
	Help          string `json:"help"`
	Group         string `json:"group"`
}

func keys(env Env, asJSON bool) error {
	var list []keyInfo
	table := render.Table{Header: []string{"key", "type", "default", "new baseline", "meaning"}}
	for _, key := range program.Keys() {
		key.Default, key.Help = link().ReplaceAllString(key.Default, "$1"), link().ReplaceAllString(key.Help, "$1")
		list = append(list, keyInfo{key.Name, key.Type, key.Default, key.ChangesNumber(), key.Help, key.Group})
		changes := ""
		if key.ChangesNumber() {
			changes = "yes"
		}
		table.Rows = append(table.Rows, []string{key.Name, key.Type, key.Default, changes, key.Help})
	}
	return printEither(env, asJSON, list, table)
}
