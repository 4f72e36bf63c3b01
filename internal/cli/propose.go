package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/proposal"
)

func newProposeCommand(env Env, parent *iterateOptions) *cobra.Command {
	var o iterateOptions
	var out string
	var ifDue bool
	cmd := &cobra.Command{
		Use:   "propose --out DIR",
		Short: "Run one iteration and record nothing: write a bundle for `iterate publish`",
		Long: "Run one iteration as `iterate` does, with the agent and the evaluation, and write what came of it to a\n" +
			"new directory instead of to the branches. It needs no token that can write: `iterate publish` records\n" +
			"the bundle in another job, which runs no code of the program.\n\n" +
			"No bundle is written when there is nothing to record, nor with --if-due when the program is not due.",
		Example: "  iterate propose --program speed --out bundle",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.repoDir, o.programs, o.proposing = parent.repoDir, parent.programs, true
			o.count = 1
			if ifDue && o.program != "" {
				why, err := notDue(cmd.Context(), env, o)
				if err != nil {
					return err
				}
				if why != "" {
					return deliver(env, o, nil, []loop.Result{{Program: o.program, Outcome: history.Idle, Reasons: []string{why}}})
				}
			}
			return proposeCommand(cmd.Context(), env, o, out)
		},
	}
	programFlags(cmd.Flags(), env, &o)
	agentFlags(cmd.Flags(), &o)
	cmd.Flags().StringVar(&out, "out", "", "the directory to write, which must not exist")
	cmd.Flags().BoolVar(&ifDue, "if-due", saysTrue(env.Getenv("AUTOLOOP_IF_DUE")), "propose only when the program that is named is due now (default: AUTOLOOP_IF_DUE)")
	return cmd
}

// proposeCommand runs one iteration and writes its bundle.
func proposeCommand(ctx context.Context, env Env, o iterateOptions, out string) error {
	if out == "" {
		return Usagef("name the directory of the bundle with --out")
	}
	if !filepath.IsAbs(out) {
		out = filepath.Join(env.Dir, out)
	}
	return iterateCommand(ctx, env, o, func(ctx context.Context, service *loop.Service) ([]loop.Result, error) {
		made, result, err := service.Propose(ctx)
		if err != nil {
			return nil, err
		}
		if made == nil {
			fmt.Fprintln(env.Stderr, "no bundle was written: there is nothing to record")
			return []loop.Result{result}, nil
		}
		if err := proposal.Write(out, *made); err != nil {
			return []loop.Result{result}, err
		}
		result.Bundle = out
		return []loop.Result{result}, nil
	})
}
