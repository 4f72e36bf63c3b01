package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/proposal"
	"github.com/org/autoloop/internal/misuse"
)

func (a *App) newProposeCommand() *cobra.Command {
	var out string
	var ifDue bool
	cmd := &cobra.Command{
		Use:   "propose --out DIR",
		Short: "Run one iteration and record nothing: write a bundle for `iterate job publish`",
		Long: `Run one iteration as "iterate" does, and write what came of it to a new directory instead of to the
branches. In Actions nothing is proposed without the start of an "iterate job begin" in the same run.

No bundle is written when there is nothing to record, nor with --if-due when the program is not due.`,
		Example: "  iterate job propose --program speed --out bundle",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			written, err := a.propose(cmd.Context(), out, ifDue)
			return errors.Join(err, a.Actions().SetOutputs(actions.Output{
				Name:  "bundle",
				Value: strconv.FormatBool(written),
			}))
		},
	}
	a.programFlags(cmd)
	a.agentFlags(cmd)
	a.forceFlag(cmd)
	cmd.Flags().StringVar(&out, "out", "", "the directory to write, which must not exist")
	cmd.Flags().BoolVar(&ifDue, "if-due", false, "propose only when the program that is named is due now")
	return cmd
}

// propose runs one iteration and writes its bundle; written says that there is
// one.
func (a *App) propose(ctx context.Context, out string, ifDue bool) (written bool, err error) {
	if ifDue && a.Program != "" {
		why, err := a.notDue(ctx)
		if err != nil {
			return false, err
		}
		if why != "" {
			return false, a.deliver(nil, idle(a.Program, why))
		}
	}
	if out == "" {
		return false, misuse.Errorf("name the directory of the bundle with --out")
	}
	out = a.Path(out)
	do := func(ctx context.Context, service *loop.Service) ([]loop.Result, error) {
		service.MustReserve = a.InActions()
		made, result, err := service.Propose(ctx)
		switch {
		case err != nil:
			return nil, err
		case made == nil:
			fmt.Fprintln(a.Stderr, "no bundle was written: there is nothing to record")
		default:
			if err = proposal.Write(out, made); err == nil {
				result.Bundle, written = out, true
			}
		}
		return []loop.Result{result}, err
	}
	// The start is on record, and publishing settles it with the reason.
	refused := func(ctx context.Context, recorder *loop.Service, why error) error {
		_, err := do(ctx, recorder.Refusing(why.Error()))
		return err
	}
	if !a.InActions() {
		refused = nil // who asks by hand reads it
	}
	// Where a start is on record, the job that recorded it has seen to what CI needs:
	// this one needs no GitHub. Without a start the loop refuses.
	err = a.withLoop(ctx, false, refused, do)
	return written, err
}
