package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/skill"
)

// controls makes a command do what the one of its name does in a comment on GitHub.
func (a *App) controls(cmd *cobra.Command) *cobra.Command {
	a.sharedFlags(cmd)
	a.jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		a.Program = args[0]
		command := commands.Command{Kind: commands.CommandKind(cmd.Name()), Text: strings.Join(args[1:], " ")}
		if command.Kind == commands.Undo {
			command.Iteration, err = strconv.Atoi(command.Text)
			if err != nil || command.Iteration < 1 {
				return misuse.Errorf(
					"%q is no number of an iteration: `iterate log %s` lists them",
					command.Text,
					a.Program,
				)
			}
		}
		return a.control(cmd.Context(), command)
	}
	return cmd
}

func (a *App) newPauseCommand() *cobra.Command {
	return a.controls(&cobra.Command{
		Use: "pause PROGRAM [REASON]", Short: "Keep a program from being selected until `iterate resume`",
		Example: "  iterate pause speed waiting for the new machine",
		Args:    cobra.MinimumNArgs(1),
	})
}

func (a *App) newResumeCommand() *cobra.Command {
	cmd := a.controls(&cobra.Command{
		Use: "resume PROGRAM", Short: "Let a program go on that is paused or completed",
		Example: "  iterate resume speed",
		Args:    cobra.ExactArgs(1),
	})
	var seen string
	cmd.Flags().StringVar(&seen, "memory", "",
		"go on from this commit of memory/autoloop, which does not go on from what this clone last saw")
	resume := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if seen != "" {
			return a.accept(cmd.Context(), seen)
		}
		return resume(cmd, args)
	}
	return cmd
}

func (a *App) newUndoCommand() *cobra.Command {
	cmd := a.controls(&cobra.Command{
		Use:   "undo PROGRAM ITERATION | WORKSPACE",
		Short: "Take back an iteration that was kept, or what was applied to a skill",
		Long: `Take an iteration of a program back by a commit on the program's branch.

With the workspace of a skill ask, and make the skill what it was before a version was applied. When
it has changes that are in no version, nothing is undone without --force, which keeps them in the workspace.`,
		Example: "  iterate undo speed 7\n  iterate undo skills/release-notes-autoresearch",
		Args:    cobra.RangeArgs(1, 2),
	})
	var change skillChange
	a.yesFlag(cmd, "undo in a skill without asking")
	cmd.Flags().BoolVar(&change.Force, "force", false, "undo also what was changed by hand in a skill")
	cmd.Flags().StringVar(&change.dir, "skill", "", "the skill's directory (default: as the workspace says)")
	undo := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && a.isSuite(cmd.Context(), args[0]) {
			return a.changeSkill(cmd.Context(), args[0], change, (*skill.Versions).Undo)
		}
		if err := onlyFor("workspaces of skills", cmd, "yes", "force", "skill"); err != nil {
			return err
		}
		return undo(cmd, args)
	}
	return cmd
}

func (a *App) newNoteCommand() *cobra.Command {
	return a.controls(&cobra.Command{
		Use: "note PROGRAM TEXT", Short: "Tell the agent something at the next iteration",
		Example: "  iterate note speed try a lookup table",
		Args:    cobra.MinimumNArgs(2),
	})
}

// accept lets this clone go on from the memory branch as it is now.
func (a *App) accept(ctx context.Context, commit string) error {
	if err := a.open(ctx); err != nil {
		return err
	}
	if err := a.Memory.Accept(ctx, commit); err != nil {
		return misuse.New(err)
	}
	_, err := fmt.Fprintf(a.Stdout, "goes on from %s\n", commit)
	return err
}

// controlled is what a command did, as JSON.
type controlled struct {
	Program   string               `json:"program"`
	Command   commands.CommandKind `json:"command"`
	Iteration int                  `json:"iteration,omitempty"`
	Answer    string               `json:"answer"`
}

// control applies one command to a program, as a comment on GitHub would, and prints the
// answer.
func (a *App) control(ctx context.Context, command commands.Command) error {
	if err := a.open(ctx); err != nil {
		return err
	}
	p, err := a.selected(ctx)
	if err != nil {
		return err
	}
	var answer, busy string
	good := true
	service := a.service(ctx, p)
	if command.Kind == commands.Pause { // recorded at once, also while a run works
		answer, err = service.Pause(ctx, cmp.Or(command.Text, "by `iterate pause`"))
		if answer != "" {
			answer = "; the iteration under way ends as it would, and no further one begins (" + answer + ")"
		}
		answer = fmt.Sprintf("paused%s; `iterate resume %s` goes on", answer, p.Name)
	} else {
		answer, good, busy, err = service.Command(ctx, fmt.Sprintf("`iterate %s`", command.Kind), command)
	}
	switch {
	case errors.Is(err, loop.ErrNoHistory):
		return a.noHistory(ctx, p.Name)
	case err != nil:
		return err
	case busy != "":
		return misuse.Errorf("%s is in use: %s; `iterate pause %s` lets it end after this iteration", p.Name, busy,
			p.Name)
	case !good:
		return misuse.Errorf("%s", answer)
	case command.Kind == commands.Resume:
		answer = "resumed"
	}
	return a.print(controlled{p.Name, command.Kind, command.Iteration, answer}, fmt.Sprintf("%s: %s\n", p.Name, answer))
}
