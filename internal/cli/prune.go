package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/setup"
)

func newPruneCommand(env Env, o *schedulerOptions) *cobra.Command {
	var yes, asJSON bool
	var remote string
	var h historyOptions
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove what programs that are gone have left, or archive a program's older history, when asked",
		Long: "List the programs that have state and neither a file nor an open issue any more. With --yes their pull\n" +
			"request and own issue are closed, and branch and state are removed; the memory branch keeps its history.\n\n" +
			"With --history NAME the older part of that program's ledger goes to a file, and what it adds up to stays: after\n" +
			"showing what goes and asking, or with --yes. `iterate replay NAME --archive FILE` reads it with the rest.",
		Example: "  scheduler prune\n  scheduler prune --yes\n  scheduler prune --history speed --keep 1000",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if h.program != "" {
				h.yes, h.json, h.remote = yes, asJSON, remote
				return pruneHistory(cmd.Context(), env, *o, h)
			}
			if cmd.Flags().Changed("keep") || cmd.Flags().Changed("out") {
				return misuse.Errorf("--keep and --out are for --history: name its program")
			}
			return prune(cmd.Context(), env, *o, remote, yes, asJSON)
		},
	}
	h.flags(cmd.Flags())
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "remove it all, or archive without asking")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	cmd.Flags().StringVar(&remote, "remote", "", "the git remote that branches and records are shared with (default: origin with GitHub)")
	return cmd
}

// prune lists what programs that are gone have left, and with yes removes it.
func prune(ctx context.Context, env Env, o schedulerOptions, remote string, yes, asJSON bool) error {
	deps, err := app.Open(ctx, env, app.Options{GitHub: o.GitHub, RepoDir: o.RepoDir, Programs: o.Programs, Remote: remote})
	if err != nil {
		return err
	}
	files, err := deps.Source(program.ParseHead).Load(false)
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
		fmt.Fprintln(env.Stdout, "remove it with `scheduler prune --yes`")
	}
	return nil
}
