package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill"
)

func (a *App) newApplyCommand() *cobra.Command {
	var change skillChange
	cmd := &cobra.Command{
		Use:   "apply PROGRAM|WORKSPACE",
		Short: "Take over what was kept: merge a program's branch, or make a skill its best version",
		Long: `Show what the program branch changes and what was gained, ask, and merge it into the branch that is
checked out. Where both changed the same lines the files are named, and nothing is merged.

With the workspace of a skill show the report and the diff, ask, and make the skill exactly that
version. When the skill changed since v0 nothing is applied, unless --merge can join both without a
conflict. Without a terminal to ask on, nothing is changed unless --yes is given.`,
		Example: "  iterate apply speed\n  iterate apply speed --yes\n" +
			"  iterate apply skills/release-notes-autoresearch --version 2 --yes",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.isSuite(cmd.Context(), args[0]) {
				return a.changeSkill(cmd.Context(), args[0], change, (*skill.Versions).Apply)
			}
			if err := onlyFor("workspaces of skills", cmd, "version", "merge", "skill"); err != nil {
				return err
			}
			a.Program = args[0]
			return asObject(a, func() (*keptWork, error) { return a.apply(cmd.Context()) })
		},
	}
	flags := cmd.Flags()
	a.yesFlag(cmd, "do it without asking")
	flags.IntVar(&change.Version, "version", skill.BestVersion, "the version of the skill (default: the best)")
	flags.Lookup("version").DefValue = "0" // the words have it
	flags.BoolVar(&change.Merge, "merge", false, "join the version with what was changed in the skill since v0")
	flags.StringVar(&change.dir, "skill", "", "the skill's directory (default: as the workspace says)")
	a.jsonFlag(cmd)
	a.repositoryFlags(cmd)
	return cmd
}

func (a *App) apply(ctx context.Context) (*keptWork, error) {
	a.Local = true // what is merged is the branch that is here
	if err := a.open(ctx); err != nil {
		return nil, err
	}
	kept, err := a.kept(ctx)
	if err != nil {
		return nil, err
	}
	if kept.Merged {
		fmt.Fprintf(a.Stdout, "%s is merged already\n", kept.Branch)
		return kept, nil
	}
	patch, err := a.Repo.Diff(ctx, kept.base, kept.Commit)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(a.Stdout, "%s%s\n", render.Pictured(string(patch)), kept) // in which nothing can hide a line
	for _, flag := range kept.Flagged {
		fmt.Fprintln(a.Stdout, "!", flag)
	}
	if kept.obstacle != nil {
		return kept, kept.obstacle
	}
	if !a.Yes {
		agreed, err := a.agree(ctx, fmt.Sprintf("merge %s? [y/n] ", kept.Branch))
		if err != nil || !agreed {
			fmt.Fprintln(a.Stdout, "nothing was merged")
			return kept, err
		}
	}
	if err := a.Repo.MergeInto(ctx, a.Environ, kept.Branch,
		fmt.Sprintf("Merge branch '%s'", kept.Branch)); err != nil {
		return nil, fmt.Errorf("%w; nothing is lost: see `git status`", err)
	}
	fmt.Fprintf(a.Stdout, "%s is merged\n", kept.Branch)
	kept.Merged = true
	return kept, nil
}

var errNoTerminal = misuse.Errorf("there is no terminal to ask on: use --yes")

// ask asks on the terminal; anything but yes is no. The error is errNoTerminal, or the
// end of ctx, for which nobody has to press enter.
func (a *App) ask(ctx context.Context, question string) (bool, error) {
	if !a.Terminal {
		return false, errNoTerminal
	}
	fmt.Fprint(a.Stdout, question)
	said := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(a.Stdin).ReadString('\n')
		said <- strings.ToLower(strings.TrimSpace(answer))
	}()
	select {
	case answer := <-said:
		return answer == "y" || answer == "yes", nil
	case <-ctx.Done():
		fmt.Fprintln(a.Stdout)
		return false, context.Cause(ctx)
	}
}

// agree is ask where what is asked about was shown, so that no terminal is no mistake.
func (a *App) agree(ctx context.Context, question string) (bool, error) {
	agreed, err := a.ask(ctx, question)
	if errors.Is(err, errNoTerminal) {
		fmt.Fprintln(a.Stderr, err)
		return false, nil
	}
	return agreed, err
}
