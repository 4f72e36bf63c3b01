package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/proposal"
	"github.com/org/autoloop/internal/misuse"
)

func newPublishCommand(env Env, o *iterateOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "publish [DIR]",
		Short: "Record the bundle of `iterate job propose`, without running any code of the program",
		Long: `Hold a bundle against the program, its branch and its records as they are now, and record it as
"iterate" would have. One that is stale, altered, too large, of another program, against the rules or
published before is refused with a reason (exit code 1), and nothing is changed.

Without DIR nothing was proposed: the recorded start is given back, and counts as no run.`,
		Example: "  iterate job publish --program speed bundle\n  iterate job publish --program speed",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return publish(cmd.Context(), env, *o, nil)
			}
			made, err := proposal.Read(env.Path(args[0]))
			if err != nil {
				return err
			}
			return publish(cmd.Context(), env, *o, &made)
		},
	}
	programFlags(cmd.Flags(), env, o)
	forceFlag(cmd.Flags(), o)
	return cmd
}

// publish records a bundle; nil means that the job which proposes left no bundle.
func publish(ctx context.Context, env Env, o iterateOptions, made *proposal.Bundle) error {
	switch why := env.Stopped(); {
	case made == nil && o.Program == "":
		return misuse.Errorf("name the directory of the bundle, or with --program the program whose proposing job " +
			"left no bundle")
	case made == nil:
	case why != "":
		return fmt.Errorf("%s: nothing is published; set it to false and publish again", why)
	default:
		o.Program = cmp.Or(o.Program, made.Program)
	}
	deps, remove, err := openRun(ctx, env, o.Options)
	if err != nil {
		return err
	}
	defer remove()
	p, issue, err := deps.Program(ctx)
	if err != nil {
		return err
	}
	if err := deps.CheckCIGate(p); err != nil {
		return err
	}
	service := deps.Recorder(ctx, p, issue)
	shown := newProgress(env)
	service.Progress = shown.Step
	var result loop.Result
	if made == nil {
		result, err = service.GiveBack(ctx)
	} else {
		result, err = service.Publish(ctx, *made)
	}
	shown.Close()
	if err != nil {
		return err
	}
	return deliver(env, o, p, []loop.Result{result})
}
