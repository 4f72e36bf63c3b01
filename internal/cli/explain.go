package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/cure"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/schedule"
)

func newExplainCommand(env Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Say what to do about an error that ends with a code",
		Long: "A message whose cure needs more than a line ends with a code such as AL0301. Print what it means, what to\n" +
			"do, and an example. Without a code, list all of them.",
		Example: "  iterate explain AL0301\n  iterate explain",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var codes []string
			for _, entry := range cure.All() {
				codes = append(codes, cobra.CompletionWithDesc(string(entry.Code), entry.Title))
			}
			return codes, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return explain(env, args, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object, or without a code an array")
	return cmd
}

// explain prints the page of a code, or a line for each.
func explain(env Env, args []string, asJSON bool) error {
	all := cure.All()
	if len(args) == 0 {
		table := render.Table{Header: []string{"code", "error"}}
		for _, entry := range all {
			table.Rows = append(table.Rows, []string{string(entry.Code), entry.Title})
		}
		return printEither(env, asJSON, all, table)
	}
	var codes []string
	for _, entry := range all {
		if strings.EqualFold(string(entry.Code), args[0]) {
			return printEither(env, asJSON, entry, entry.Markdown(1))
		}
		codes = append(codes, strings.ToLower(string(entry.Code)))
	}
	if near := schedule.Nearest(args[0], codes); near != "" {
		return misuse.Errorf("there is no error code %q; did you mean %s?", args[0], strings.ToUpper(near))
	}
	return misuse.Errorf("there is no error code %q: `iterate explain` lists them", args[0])
}
