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

func (a *App) newPublishCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "publish [DIR]",
		Short: "Record the bundle of `iterate job propose`, without running any code of the program",
		Long: `Hold a bundle against the program, its branch and its records as they are now, and record it as
"iterate" would have. One that is stale, altered, too large, of another program, against the rules or
published before is refused with a reason (exit code 1), and nothing is changed.

Without DIR nothing was proposed: what waits is done, such as applying a command or reading CI, and
the recorded start is given back, which counts as no run.`,
		Example: "  iterate job publish --program speed bundle\n  iterate job publish --program speed",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.publish(cmd.Context(), nil)
			}
			made, err := proposal.Read(a.Path(args[0]))
			if err != nil {
				return err
			}
			return a.publish(cmd.Context(), made)
		},
	}
	a.programFlags(cmd)
	a.forceFlag(cmd)
	return cmd
}

// publish records a bundle; nil means that the job which proposes left no bundle.
func (a *App) publish(ctx context.Context, made *proposal.Proposal) error {
	switch why := a.Stopped(); {
	case made == nil && a.Program == "":
		return misuse.Errorf("name the directory of the bundle, or with --program the program whose proposing job " +
			"left no bundle")
	case made == nil:
	case why != "":
		return fmt.Errorf("%s: nothing is published; set it to false and publish again", why)
	default:
		a.Program = cmp.Or(a.Program, made.Program)
	}
	if err := a.openRun(ctx); err != nil {
		return err
	}
	service, err := a.selectedRecorder(ctx)
	if err != nil {
		return err
	}
	shown := newProgress(a.Env)
	service.Progress = shown.Step
	var result loop.Result
	switch {
	case made != nil:
		result, err = service.Publish(ctx, made)
	case a.Stopped() != "":
		result, err = service.GiveBack(ctx)
	default:
		result, err = service.Chores(ctx)
	}
	shown.Close()
	if err != nil {
		return err
	}
	return a.deliver(service.Program, []loop.Result{result})
}
