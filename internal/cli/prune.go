package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/setup"
)

func newPruneCommand(env Env, o *iterateOptions) *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove what programs that are gone have left, when asked",
		Long: `List the programs that have state and neither a file nor an open issue any more. With --yes their
pull request and own issue are closed, and branch and state are removed; the memory branch keeps its
history.`,
		Example: "  iterate prune\n  iterate prune --yes",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return prune(cmd.Context(), env, o.Options, yes, asJSON)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "remove it all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	sharedFlags(cmd.Flags(), &o.Options)
	return cmd
}

// prune lists what programs that are gone have left, and with yes removes it.
func prune(ctx context.Context, env Env, o Options, yes, asJSON bool) error {
	deps, err := openDeps(ctx, env, o)
	if err != nil {
		return err
	}
	files, err := deps.Source().Load(false)
	if err != nil {
		return err
	}
	pruner := setup.Pruner{Repo: deps.Repo, Memory: deps.Memory, GitHub: deps.GitHub}
	list, err := pruner.Find(ctx, program.Names(files))
	if err == nil && yes {
		err = pruner.Remove(ctx, list)
	}
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(env.Stdout).Encode(list)
	}
	fmt.Fprint(env.Stdout, list)
	if !yes && len(list) > 0 {
		fmt.Fprintln(env.Stdout, "remove it with `iterate prune --yes`")
	}
	return nil
}
