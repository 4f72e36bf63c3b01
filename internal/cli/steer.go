package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
)

func newSteerCommand(env Env, o *iterateOptions) *cobra.Command {
	var name string
	var issue int
	var asJSON bool
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
			o.Program = name
			return steerProgram(cmd.Context(), env, o.Options, issue, asJSON)
		},
	}
	cmd.Flags().StringVar(&name, "program", "", "the program")
	cmd.Flags().IntVar(&issue, "issue", 0, "the program whose issue or pull request has this number")
	sharedFlags(cmd.Flags(), &o.Options)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

func steerProgram(ctx context.Context, env Env, o Options, issue int, asJSON bool) error {
	if o.Program == "" && issue == 0 {
		issue = env.Actions().EventIssue()
	}
	if (o.Program == "") == (issue == 0) {
		return misuse.Errorf("say which program: --program NAME, or --issue NUMBER")
	}
	deps, err := openDeps(ctx, env, o)
	if err != nil {
		return err
	}
	if deps.GitHub == nil {
		return misuse.Errorf("there are no comments to read without GitHub: give --repo and a token in GITHUB_TOKEN")
	}
	if issue > 0 {
		if deps.Options.Program, err = deps.ProgramOfIssue(ctx, issue); err != nil {
			return err
		}
	}
	if deps.Options.Program == "" {
		fmt.Fprintf(env.Stdout, "#%d belongs to no program\n", issue)
		return nil
	}
	p, known, err := deps.Program(ctx)
	if err != nil {
		return err
	}
	service := deps.Recorder(ctx, p, known)
	result, err := service.ApplyCommands(ctx)
	if err != nil {
		return err
	}
	return printSteered(env, result, asJSON)
}

func printSteered(env Env, result loop.CommandsResult, asJSON bool) error {
	for _, warning := range result.Warnings {
		fmt.Fprintln(env.Stderr, "warning:", warning)
	}
	if err := env.Actions().SetOutputs(actions.Output{Name: "has-work", Value: strconv.FormatBool(result.Run)},
		actions.Output{Name: "selected", Value: result.Program}); err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(env.Stdout).Encode(result)
	}
	switch {
	case result.Busy != "":
		fmt.Fprintf(env.Stdout, "%s: left alone: %s\n", result.Program, result.Busy)
	case result.Stopped != "":
		fmt.Fprintf(env.Stdout, "%s: %s\n", result.Program, result.Stopped)
	case result.Run:
		fmt.Fprintf(env.Stdout, "%s: up to date; somebody asked for an iteration now: iterate --program %[1]s\n",
			result.Program)
	default:
		fmt.Fprintf(env.Stdout, "%s: up to date\n", result.Program)
	}
	return nil
}
