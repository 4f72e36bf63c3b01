package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/proposal"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
)

func newProposeCommand(env Env, o *iterateOptions) *cobra.Command {
	var out string
	var ifDue bool
	cmd := &cobra.Command{
		Use:   "propose --out DIR",
		Short: "Run one iteration and record nothing: write a bundle for `iterate job publish`",
		Long: `Run one iteration as "iterate" does, and write what came of it to a new directory instead of to the
branches. It needs no token that can write: "iterate job begin" records the start in a job before it,
without which nothing is proposed in Actions, and "iterate job publish" the bundle in a job after it.

No bundle is written when there is nothing to record, nor with --if-due when the program is not due.`,
		Example: "  iterate job propose --program speed --out bundle",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			written, err := propose(cmd.Context(), env, *o, out, ifDue)
			return errors.Join(err, env.Actions().SetOutputs(actions.Output{
				Name:  "bundle",
				Value: strconv.FormatBool(written),
			}))
		},
	}
	programFlags(cmd.Flags(), env, o)
	agentFlags(cmd.Flags(), o)
	forceFlag(cmd.Flags(), o)
	cmd.Flags().StringVar(&out, "out", "", "the directory to write, which must not exist")
	cmd.Flags().BoolVar(&ifDue, "if-due", false, "propose only when the program that is named is due now")
	return cmd
}

// propose runs one iteration and writes its bundle; written says that there is
// one.
func propose(ctx context.Context, env Env, o iterateOptions, out string, ifDue bool) (written bool, err error) {
	if ifDue && o.Program != "" {
		why, err := Scheduling{Options: o.Options}.NotDue(ctx, env, o.Program)
		if err != nil {
			return false, err
		}
		if why != "" {
			return false, deliver(env, o, nil,
				[]loop.Result{{Program: o.Program, Outcome: history.Idle, Reasons: decision.Lines{decision.Say(why)}}})
		}
	}
	if out == "" {
		return false, misuse.Errorf("name the directory of the bundle with --out")
	}
	out = env.Path(out)
	// Where a start is on record, the job that recorded it has seen to what CI needs:
	// this one needs no GitHub. Without a start the loop refuses.
	anyGate := func(*dependencies, *program.Program) error { return nil }
	handOn := func(made *proposal.Bundle, result loop.Result) ([]loop.Result, error) {
		if made == nil {
			fmt.Fprintln(env.Stderr, "no bundle was written: there is nothing to record")
			return []loop.Result{result}, nil
		}
		if err := proposal.Write(out, *made); err != nil {
			return []loop.Result{result}, err
		}
		result.Bundle, written = out, true
		return []loop.Result{result}, nil
	}
	// The start is on record, and publishing settles it with the reason.
	refused := func(ctx context.Context, _ iterateOptions, _ *dependencies, recorder *loop.Service, why error) error {
		if !env.InActions() {
			return nil // who asks by hand reads it
		}
		recorder.MustReserve = true
		made, result, err := recorder.ProposeRefusal(ctx, why.Error())
		if err == nil {
			_, err = handOn(made, result)
		}
		return err
	}
	err = withLoop(ctx, env, o, anyGate, refused,
		func(ctx context.Context, service *loop.Service) ([]loop.Result, error) {
			service.MustReserve = env.InActions()
			made, result, err := service.Propose(ctx)
			if err != nil {
				return nil, err
			}
			return handOn(made, result)
		})
	return written, err
}
