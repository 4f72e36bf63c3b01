package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/proposal"
)

func newPublishCommand(env Env, parent *iterateOptions) *cobra.Command {
	var o iterateOptions
	cmd := &cobra.Command{
		Use:   "publish DIR",
		Short: "Record the bundle of `iterate propose`, without running any code of the program",
		Long: "Hold a bundle against the program, its branch and its records as they are now, and record it as `iterate`\n" +
			"would have. A bundle that is stale, altered, too large, of another program, against the rules or\n" +
			"published before is refused with a reason (exit code 1), and nothing is changed.",
		Example: "  iterate publish --program speed bundle",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.RepoDir, o.Programs = parent.RepoDir, parent.Programs
			return publish(cmd.Context(), env, o, args[0])
		},
	}
	programFlags(cmd.Flags(), env, &o)
	forceFlag(cmd.Flags(), &o)
	return cmd
}

// publish reads a bundle and records it.
func publish(ctx context.Context, env Env, o iterateOptions, dir string) error {
	if why := env.Stopped(); why != "" {
		return fmt.Errorf("%s: nothing is published; set it to false and publish again", why)
	}
	made, err := proposal.Read(env.Path(dir))
	if err != nil {
		return err
	}
	o.Program = cmp.Or(o.Program, made.Program)
	deps, err := app.Open(ctx, env, o.Options)
	if err != nil {
		return err
	}
	remove, err := deps.MakeRunDir()
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
	result, err := service.Publish(ctx, made)
	shown.Close()
	if err != nil {
		return err
	}
	return deliver(env, o, p, []loop.Result{result})
}
