package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill"
)

func newApplyCommand(env Env, o *iterateOptions) *cobra.Command {
	var s skillApplyOptions
	cmd := &cobra.Command{
		Use:   "apply PROGRAM|WORKSPACE",
		Short: "Take over what was kept: merge a program's branch, or make a skill its best version",
		Long: `Show what the program branch changes and what was gained, ask, and merge it into the branch that is
checked out. Where both changed the same lines the files are named, and nothing is merged.

With the workspace of a skill show the report and the diff, ask, and make the skill exactly that
version; .git is not touched, and the workspace is kept. When the skill changed since v0 nothing is
applied, unless --merge can join both without a conflict.

Without a terminal to ask on, nothing is changed unless --yes is given.`,
		Example: "  iterate apply speed\n  iterate apply speed --yes\n" +
			"  iterate apply skills/release-notes-autoresearch --version 2 --yes",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if isSuite(cmd.Context(), env, o.Options, args[0]) {
				return changeSkill(cmd.Context(), env, args[0], s, (*skill.Versions).Apply)
			}
			if err := onlyFor("workspaces of skills", cmd.Flags().Changed, "version", "merge", "skill"); err != nil {
				return err
			}
			o.Program = args[0]
			return asObject(env, s.json, func(env Env) (*keptWork, error) {
				return apply(cmd.Context(), env, o.Options, s.Yes)
			})
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&s.Yes, "yes", "y", false, "do it without asking")
	flags.IntVar(&s.Version, "version", skill.BestVersion, "the version of the skill (default: the best)")
	flags.BoolVar(&s.Merge, "merge", false, "join the version with what was changed in the skill since v0")
	flags.StringVar(&s.dir, "skill", "", "the skill's directory (default: as the workspace says)")
	objectFlag(flags, &s.json)
	repositoryFlags(flags, &o.Options)
	return cmd
}

func apply(ctx context.Context, env Env, o Options, yes bool) (*keptWork, error) {
	o.Local = true // what is merged is the branch that is here
	deps, err := openDeps(ctx, env, o)
	if err != nil {
		return nil, err
	}
	kept, err := deps.Kept(ctx, deps.Options.Program)
	if err != nil {
		return nil, err
	}
	if kept.Merged {
		fmt.Fprintf(env.Stdout, "%s is merged already\n", kept.Branch)
		return kept, nil
	}
	if err := showChange(ctx, env, deps.Repo, kept.base, kept.Commit); err != nil {
		return nil, err
	}
	fmt.Fprintln(env.Stdout, kept)
	for _, flag := range kept.Flagged {
		fmt.Fprintln(env.Stdout, "!", flag)
	}
	if err := kept.Conflict(); err != nil {
		return kept, err
	}
	if !yes {
		agreed, err := agree(ctx, env, fmt.Sprintf("merge %s? [y/n] ", kept.Branch))
		if err != nil || !agreed {
			fmt.Fprintln(env.Stdout, "nothing was merged")
			return kept, err
		}
	}
	if err := deps.Repo.MergeInto(ctx, env.Environ, kept.Branch,
		fmt.Sprintf("Merge branch '%s'", kept.Branch)); err != nil {
		return nil, fmt.Errorf("%w; nothing is lost: see `git status`", err)
	}
	fmt.Fprintf(env.Stdout, "%s is merged\n", kept.Branch)
	kept.Merged = true
	return kept, nil
}

// showChange prints the commits' effect as a patch, in which nothing can hide a line.
func showChange(ctx context.Context, env Env, repo *git.Repo, base, kept string) error {
	patch, err := repo.Diff(ctx, base, kept)
	if err != nil {
		return err
	}
	_, err = io.WriteString(env.Stdout, render.Pictured(string(patch)))
	return err
}

var errNoTerminal = misuse.Errorf("there is no terminal to ask on: use --yes")

// ask asks on the terminal; anything but yes is no. The error is errNoTerminal, or the
// end of ctx, for which nobody has to press enter.
func ask(ctx context.Context, env Env, question string) (bool, error) {
	if !env.Terminal {
		return false, errNoTerminal
	}
	fmt.Fprint(env.Stdout, question)
	said := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(env.Stdin).ReadString('\n')
		said <- strings.ToLower(strings.TrimSpace(answer))
	}()
	select {
	case answer := <-said:
		return answer == "y" || answer == "yes", nil
	case <-ctx.Done():
		fmt.Fprintln(env.Stdout)
		return false, context.Cause(ctx)
	}
}

// agree is ask where what is asked about was shown, so that no terminal is no mistake.
func agree(ctx context.Context, env Env, question string) (bool, error) {
	agreed, err := ask(ctx, env, question)
	if errors.Is(err, errNoTerminal) {
		fmt.Fprintln(env.Stderr, err)
		return false, nil
	}
	return agreed, err
}
