package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/misuse"
)

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
				issue = a.Actions().EventIssue()
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
	if err := a.Actions().SetOutputs(actions.Output{Name: "has-work", Value: strconv.FormatBool(result.Run)},
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
