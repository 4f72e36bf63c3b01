package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/misuse"
)

// newControlCommands are the commands that do what comments do on GitHub.
func newControlCommands(env Env, parent *iterateOptions) []*cobra.Command {
	pause := &cobra.Command{
		Use: "pause PROGRAM [REASON]", Short: "Keep a program from being selected until `iterate resume`",
		Example: "  iterate pause speed waiting for the new machine",
		Args:    cobra.MinimumNArgs(1),
	}
	resume := &cobra.Command{
		Use: "resume PROGRAM", Short: "Let a program go on that is paused or completed",
		Example: "  iterate resume speed",
		Args:    cobra.ExactArgs(1),
	}
	undo := &cobra.Command{
		Use: "undo PROGRAM ITERATION", Short: "Take an iteration that was kept back, by a commit on the program's branch",
		Example: "  iterate undo speed 7",
		Args:    cobra.ExactArgs(2),
	}
	note := &cobra.Command{
		Use: "note PROGRAM TEXT", Short: "Tell the agent something at the next iteration",
		Example: "  iterate note speed try a lookup table",
		Args:    cobra.MinimumNArgs(2),
	}
	read := map[*cobra.Command]func(rest []string) (commands.Command, error){
		pause: func(rest []string) (commands.Command, error) {
			return commands.Command{Kind: commands.Pause, Text: strings.Join(rest, " ")}, nil
		},
		resume: func([]string) (commands.Command, error) { return commands.Command{Kind: commands.Resume}, nil },
		undo: func(rest []string) (commands.Command, error) {
			n, err := strconv.Atoi(rest[0])
			if err != nil || n < 1 {
				return commands.Command{}, misuse.Errorf("%q is no number of an iteration: `iterate log` lists them", rest[0])
			}
			return commands.Command{Kind: commands.Undo, Iteration: n}, nil
		},
		note: func(rest []string) (commands.Command, error) {
			return commands.Command{Kind: commands.Note, Text: strings.Join(rest, " ")}, nil
		},
	}
	list := []*cobra.Command{pause, resume, undo, note}
	for _, cmd := range list {
		var o app.Options
		var asJSON bool
		sharedFlags(cmd.Flags(), &o)
		cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			command, err := read[cmd](args[1:])
			if err != nil {
				return err
			}
			o.RepoDir, o.Programs, o.Program = parent.RepoDir, parent.Programs, args[0]
			return control(cmd.Context(), env, o, cmd.Name(), command, asJSON)
		}
	}
	return list
}

// controlled is what a command did, as JSON.
type controlled struct {
	Program   string `json:"program"`
	Command   string `json:"command"`
	Iteration int    `json:"iteration,omitempty"`
	Answer    string `json:"answer"`
}

func control(ctx context.Context, env Env, o app.Options, name string, command commands.Command, asJSON bool) error {
	deps, err := app.Open(ctx, env, o)
	if err != nil {
		return err
	}
	p, _, err := deps.Program(ctx)
	if err != nil {
		return err
	}
	if command.Kind == commands.Pause && command.Text == "" {
		command.Text = "by `iterate pause`"
	}
	answer, err := deps.Command(ctx, p, "`iterate "+name+"`", command)
	if err != nil {
		return err
	}
	switch command.Kind { //nolint:exhaustive // the answers to the others fit a terminal too
	case commands.Pause:
		answer = fmt.Sprintf("paused; `iterate resume %s` goes on", p.Name)
	case commands.Resume:
		answer = "resumed"
	}
	if asJSON {
		return json.NewEncoder(env.Stdout).Encode(controlled{p.Name, name, command.Iteration, answer})
	}
	_, err = fmt.Fprintf(env.Stdout, "%s: %s\n", p.Name, answer)
	return err
}
