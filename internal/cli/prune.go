package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/setup"
)

func (a *App) newPruneCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove what programs that are gone have left, when asked",
		Long: `List the programs that have state and neither a file nor an open issue any more. With --yes their
pull request and own issue are closed, and branch and state are removed; the memory branch keeps its
history.`,
		Example: "  iterate prune\n  iterate prune --yes",
		Args:    cobra.NoArgs,
		RunE:    run(a.prune),
	}
	a.yesFlag(cmd, "remove it all")
	a.jsonFlag(cmd)
	a.sharedFlags(cmd)
	return cmd
}

// prune lists what programs that are gone have left, and with --yes removes it.
func (a *App) prune(ctx context.Context, _ []string) error {
	if err := a.open(ctx); err != nil {
		return err
	}
	files, err := a.source().Load(false)
	if err != nil {
		return err
	}
	list, err := setup.FindLeftovers(ctx, a.Memory, a.GitHub, program.Names(files))
	if err == nil && a.Yes {
		err = setup.RemoveLeftovers(ctx, a.Memory, a.GitHub, list)
	}
	if err != nil {
		return err
	}
	next := ""
	if !a.Yes && len(list) > 0 {
		next = "remove it with `iterate prune --yes`\n"
	}
	return a.print(list, fmt.Sprint(list, next))
}
