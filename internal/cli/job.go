package cli

import "github.com/spf13/cobra"

// newJobCommand groups the steps of workflows.
func (a *App) newJobCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "job",
		Short: "Steps of a workflow: one iteration in two jobs, commands of comments, one decision",
		Long: `An iteration in two jobs, of which only one has a token that can write: "begin" records the start,
"propose" works and writes a bundle, "publish" verifies and records it. "steer" does what comments
ask for, and "decide" compares one value with the best so far, for loops of your own.`,
		Example: "  iterate job begin --program speed\n  iterate job propose --program speed --out bundle\n" +
			"  iterate job publish --program speed bundle",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.newBeginCommand(), a.newProposeCommand(), a.newPublishCommand(),
		a.newSteerCommand(), a.newDecideCommand())
	return cmd
}
