package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render"
)

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

func (a *App) newBeginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "begin",
		Short: "Record that iterations begin in jobs that cannot write, before an agent works there",
		Long: `Record the start of an iteration: its lease, its number, and what it may use of the budgets. A start
that no "iterate job publish" settles counts as interrupted, with all that was reserved.

Without --program it begins every program of the scheduler's matrix. In Actions the outputs has-work
and matrix have the programs that begin.`,
		Example: "  scheduler --max 4 && iterate job begin\n  iterate job begin --program speed",
		Args:    cobra.NoArgs,
		RunE:    run(a.begin),
	}
	a.programFlags(cmd)
	return cmd
}

// begin records starts, for jobs that cannot write, and says which programs begin. A
// program that cannot begin keeps no other from it: its reservation says why.
func (a *App) begin(ctx context.Context, _ []string) error {
	if err := a.CheckBranch(a.Base); err != nil {
		return err
	}
	if err := a.open(ctx); err != nil {
		return err
	}
	if why := a.paused(ctx); why != "" {
		fmt.Fprintf(a.Stderr, "%s: nothing begins; set it to false to go on\n", why)
		return a.printReservations([]loop.Reservation{})
	}
	names := []string{a.Program}
	if a.Program == "" {
		var err error
		if names, err = a.planned(); err != nil {
			return err
		}
	}
	made := []loop.Reservation{}
	for _, name := range names {
		a.Program = name
		recorder, err := a.selectedRecorder(ctx)
		var one loop.Reservation
		if err == nil {
			one, err = recorder.Reserve(ctx)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			one = loop.Reservation{Program: name, Reason: err.Error(), Failed: true}
		}
		made = append(made, one)
	}
	return a.printReservations(made)
}

// printReservations also sets the outputs. That no program could begin because of
// errors is an error.
func (a *App) printReservations(made []loop.Reservation) error {
	if err := a.ReportReservations(made); err != nil {
		return err
	}
	text, failed := "", 0
	for _, one := range made {
		switch {
		case one.Failed:
			failed++
			fmt.Fprintf(a.Stderr, "error: %s: %s\n", one.Program, one.Reason)
		case one.Begun:
			text += fmt.Sprintf("%s: iteration %d begins (run %s)\n", one.Program, one.Iteration, one.RunID)
		default:
			text += fmt.Sprintf("%s: does not begin: %s\n", one.Program, one.Reason)
		}
		a.warn(one.Warnings...)
	}
	return verdict(a.print(made, text), failed > 0 && failed == len(made))
}

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
			return errors.Join(err, a.SetOutputs(actions.Output{
				Name:  "bundle",
				Value: strconv.FormatBool(written),
			}))
		},
	}
	a.programFlags(cmd)
	a.agentFlags(cmd)
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
	do := func(ctx context.Context, service *loop.Service) ([]render.Result, error) {
		service.MustReserve = a.InActions()
		made, result, err := service.Propose(ctx)
		switch {
		case err != nil:
			return nil, err
		case made == nil:
			fmt.Fprintln(a.Stderr, "no bundle was written: there is nothing to record")
		default:
			if err = loop.WriteBundle(out, made); err == nil {
				result.Bundle, written = out, true
			}
		}
		return []render.Result{result}, err
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
			made, err := loop.ReadBundle(a.Path(args[0]))
			if err != nil {
				return err
			}
			return a.publish(cmd.Context(), made)
		},
	}
	a.programFlags(cmd)
	return cmd
}

// publish records a bundle; nil means that the job which proposes left no bundle.
func (a *App) publish(ctx context.Context, made *loop.Proposal) error {
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
	var result render.Result
	if made != nil {
		result, err = service.Publish(ctx, made)
	} else {
		result, err = service.Chores(ctx, a.Stopped() != "")
	}
	shown.Close()
	if err != nil {
		return err
	}
	return a.deliver(service.Program, []render.Result{result})
}

func (a *App) newSteerCommand() *cobra.Command {
	var name string
	var issue int
	cmd := &cobra.Command{
		Use:   "steer [--program NAME | --issue NUMBER]",
		Short: "Do what comments on GitHub ask for, without an iteration",
		Long: `Read the comments on a program's issue and pull request, do what the /autoloop commands of trusted
people ask for, and bring issue and pull request up to date, also of a program that is paused or
completed. In Actions the issue is that of the comment that started the workflow, and the outputs
has-work and selected say whether somebody asked for an iteration now.`,
		Example: "  iterate job steer --issue 12\n  iterate job steer --program speed --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name == "" && issue == 0 {
				issue = a.EventIssue()
			}
			if (name == "") == (issue == 0) {
				return misuse.Errorf("say which program: --program NAME, or --issue NUMBER")
			}
			a.Program = name
			return a.steer(cmd.Context(), issue)
		},
	}
	cmd.Flags().StringVar(&name, "program", "", "the program")
	cmd.Flags().IntVar(&issue, "issue", 0, "the program whose issue or pull request has this number")
	a.sharedFlags(cmd)
	a.jsonFlag(cmd)
	return cmd
}

func (a *App) steer(ctx context.Context, issue int) error {
	if err := a.open(ctx); err != nil {
		return err
	}
	if a.GitHub == nil {
		return misuse.Errorf("there are no comments to read without GitHub: give --repo and a token in GITHUB_TOKEN")
	}
	if issue > 0 {
		name, err := a.programOfIssue(ctx, issue)
		if err != nil {
			return err
		}
		if a.Program = name; name == "" {
			fmt.Fprintf(a.Stdout, "#%d belongs to no program\n", issue)
			return nil
		}
	}
	recorder, err := a.selectedRecorder(ctx)
	if err != nil {
		return err
	}
	result, err := recorder.ApplyCommands(ctx)
	if err != nil {
		return err
	}
	a.warn(result.Warnings...)
	if err := a.SetOutputs(actions.Output{Name: "has-work", Value: strconv.FormatBool(result.Run)},
		actions.Output{Name: "selected", Value: result.Program}); err != nil {
		return err
	}
	text := "up to date"
	switch {
	case result.Busy != "":
		text = "left alone: " + result.Busy
	case result.Stopped != "":
		text = result.Stopped
	case result.Run:
		text += "; somebody asked for an iteration now: iterate --program " + result.Program
	}
	return a.print(result, fmt.Sprintf("%s: %s\n", result.Program, text))
}

func (a *App) newDecideCommand() *cobra.Command {
	var standard decision.Standard
	var value, target *metric.Value
	cmd := &cobra.Command{
		Use:   "decide --value X [--best X] [--direction higher|lower] [--target X]",
		Short: "Compare one value with the best so far, for loops of your own",
		Long: `Decide whether a value improves on the best so far. It reads and writes nothing else.
Without --best the value is the first and counts as improved.`,
		Example: "  iterate job decide --direction lower --best 1.5 --value 1.3 --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if value == nil {
				return misuse.Errorf("--value is missing; give the new value, such as --value 1.3")
			}
			return a.decide(standard, metric.Measurement{Metric: value}, target)
		},
	}
	cmd.Flags().Func("direction", "`higher` or `lower`: which is better (default: higher)",
		func(text string) (err error) {
			standard.Direction, err = metric.ParseDirection(text)
			return err
		})
	parsed(cmd, &standard.Best, "best", "the best value so far, a `NUMBER`", number)
	parsed(cmd, &value, "value", "the new value, a `NUMBER`", number)
	parsed(cmd, &target, "target", "the value at which the work is done, a `NUMBER`", number)
	a.jsonFlag(cmd)
	return cmd
}

// decided is the answer of `iterate job decide`.
type decided struct {
	Improved  bool    `json:"improved"`
	Delta     *string `json:"delta"`
	TargetMet *bool   `json:"target_met"`
}

func (a *App) decide(standard decision.Standard, measured metric.Measurement, target *metric.Value) error {
	made := decision.Decide(standard, measured)
	answer, word := decided{Improved: made.Verdict == decision.Improved}, "no improvement"
	if answer.Improved {
		word = "improved"
	}
	text := fmt.Sprintf("%s: %s\n", word, made.Reasons[0])
	if standard.Best != nil {
		answer.Delta = &made.Delta
		text += fmt.Sprintf("delta: %s\n", made.Delta)
	}
	if target != nil {
		answer.TargetMet = new(standard.Direction.TargetMet(*made.Best, target))
		text += fmt.Sprintf("target %s met: %v\n", target, *answer.TargetMet)
	}
	return a.print(answer, text)
}
