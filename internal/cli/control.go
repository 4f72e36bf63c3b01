package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/skill"
)

// newControlCommands are the commands that do what comments do on GitHub.
func newControlCommands(env Env, o *iterateOptions) []*cobra.Command {
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
	var s skillApplyOptions
	undo := &cobra.Command{
		Use:   "undo PROGRAM ITERATION | WORKSPACE",
		Short: "Take back an iteration that was kept, or what was applied to a skill",
		Long: `Take an iteration of a program back by a commit on the program's branch.

With the workspace of a skill ask, and make the skill what it was before a version was applied or
merged. When it has changes that are in no version of the workspace, nothing is undone unless --force
is given; they are then kept in the workspace.`,
		Example: "  iterate undo speed 7\n  iterate undo skills/release-notes-autoresearch",
		Args:    cobra.RangeArgs(1, 2),
	}
	undo.Flags().BoolVarP(&s.Yes, "yes", "y", false, "undo in a skill without asking")
	undo.Flags().BoolVar(&s.Force, "force", false, "undo also what was changed by hand in a skill")
	undo.Flags().StringVar(&s.dir, "skill", "", "the skill's directory (default: as the workspace says)")
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
			n, err := strconv.Atoi(strings.Join(rest, ""))
			if err != nil || n < 1 {
				return commands.Command{}, misuse.Errorf("%q is no number of an iteration: `iterate log` lists them",
					strings.Join(rest, ""))
			}
			return commands.Command{Kind: commands.Undo, Iteration: n}, nil
		},
		note: func(rest []string) (commands.Command, error) {
			return commands.Command{Kind: commands.Note, Text: strings.Join(rest, " ")}, nil
		},
	}
	var seen string
	resume.Flags().StringVar(&seen, "memory", "",
		"go on from this commit of memory/autoloop, which does not go on from what this clone last saw")
	list := []*cobra.Command{pause, resume, undo, note}
	for _, cmd := range list {
		var asJSON bool
		sharedFlags(cmd.Flags(), &o.Options)
		cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if cmd == undo {
				if len(args) == 1 && isSuite(cmd.Context(), env, o.Options, args[0]) {
					s.json = asJSON
					return changeSkill(cmd.Context(), env, args[0], s, (*skill.Versions).Undo)
				}
				if err := onlyFor("workspaces of skills", cmd.Flags().Changed, "yes", "force", "skill"); err != nil {
					return err
				}
			}
			command, err := read[cmd](args[1:])
			if err != nil {
				return err
			}
			o.Program = args[0]
			if seen != "" {
				return accept(cmd.Context(), env, o.Options, seen)
			}
			return control(cmd.Context(), env, o.Options, cmd.Name(), command, asJSON)
		}
	}
	return list
}

// accept lets this clone go on from the memory branch as it is now.
func accept(ctx context.Context, env Env, o Options, commit string) error {
	deps, err := openDeps(ctx, env, o)
	if err != nil {
		return err
	}
	if err := deps.Memory.Accept(ctx, commit); err != nil {
		return misuse.New(err)
	}
	_, err = fmt.Fprintf(env.Stdout, "goes on from %s\n", commit)
	return err
}

// controlled is what a command did, as JSON.
type controlled struct {
	Program   string `json:"program"`
	Command   string `json:"command"`
	Iteration int    `json:"iteration,omitempty"`
	Answer    string `json:"answer"`
}

func control(ctx context.Context, env Env, o Options, name string, command commands.Command, asJSON bool) error {
	deps, err := openDeps(ctx, env, o)
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
	if command.Kind == commands.Resume {
		answer = "resumed"
	}
	if asJSON {
		return json.NewEncoder(env.Stdout).Encode(controlled{p.Name, name, command.Iteration, answer})
	}
	_, err = fmt.Fprintf(env.Stdout, "%s: %s\n", p.Name, answer)
	return err
}

// Command applies one command to a program, as a comment on GitHub would, and
// returns the answer. The author is who or what asks for it.
func (d *dependencies) Command(ctx context.Context, p *program.Program, author string,
	command commands.Command,
) (answer string, err error) {
	service := d.service(p)
	if command.Kind == commands.Pause {
		return d.pause(ctx, service, command.Text)
	}
	answer, good, busy, err := service.Command(ctx, author, command)
	switch {
	case errors.Is(err, loop.ErrNoHistory):
		return "", d.noHistory(ctx, p.Name)
	case err != nil:
		return "", err
	case busy != "":
		return "", misuse.Errorf("%s is in use: %s; `iterate pause %s` lets it end after this iteration", p.Name,
			busy, p.Name)
	case !good:
		return "", misuse.Errorf("%s", answer)
	}
	return answer, nil
}

// pause records a pause at once, also while a run works.
func (d *dependencies) pause(ctx context.Context, service *loop.Service, reason string) (answer string, err error) {
	name := service.Program.Name
	worker, err := service.Pause(ctx, reason)
	switch {
	case errors.Is(err, loop.ErrNoHistory):
		return "", d.noHistory(ctx, name)
	case err != nil:
		return "", err
	case worker != "":
		return fmt.Sprintf("paused; the iteration under way ends as it would, and no further one begins (%s); "+
			"`iterate resume %s` goes on", worker, name), nil
	}
	return fmt.Sprintf("paused; `iterate resume %s` goes on", name), nil
}
