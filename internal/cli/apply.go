package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render"
)

func newApplyCommand(env Env, o *iterateOptions) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "apply PROGRAM",
		Short: "Merge what was kept into the branch that is checked out",
		Long: "Show what the program branch changes, ask, and merge it into the branch that is checked out.\n" +
			"Without a terminal to ask on, nothing is merged unless --yes is given.",
		Example: "  iterate apply speed\n  iterate apply speed --yes",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return apply(cmd.Context(), env, o.RepoDir, args[0], yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "merge without asking")
	return cmd
}

func apply(ctx context.Context, env Env, dir, name string, yes bool) error {
	repo, err := app.OpenRepo(ctx, env, dir)
	if err != nil {
		return err
	}
	branch := loop.BranchPrefix + name
	kept, found, err := repo.Resolve(ctx, "refs/heads/"+branch)
	if err != nil {
		return err
	}
	if !found {
		return misuse.Errorf("there is no branch %s: nothing of program %q was kept yet", branch, name)
	}
	head, err := repo.Head(ctx)
	if err != nil {
		return err
	}
	base, related, err := repo.MergeBase(ctx, head, kept)
	if err != nil {
		return err
	}
	if !related {
		return fmt.Errorf("branch %s has no history in common with what is checked out", branch)
	}
	if base == kept {
		fmt.Fprintf(env.Stdout, "%s is merged already\n", branch)
		return nil
	}
	if err := showChange(ctx, env, repo, base, kept); err != nil {
		return err
	}
	if !yes {
		agreed, err := ask(ctx, env, fmt.Sprintf("merge %s? [y/n] ", branch))
		if err != nil || !agreed {
			fmt.Fprintln(env.Stdout, "nothing was merged")
			return err
		}
	}
	out, err := repo.MergeInto(ctx, env.Environ, branch, fmt.Sprintf("Merge branch '%s'", branch))
	if err != nil {
		return fmt.Errorf("%w; nothing is lost: see `git status`", err)
	}
	fmt.Fprint(env.Stdout, out)
	return nil
}

// showChange prints the commits' effect as a patch; on a terminal nothing in it
// can hide a line.
func showChange(ctx context.Context, env Env, repo *git.Repo, base, kept string) error {
	patch, err := repo.Diff(ctx, base, kept)
	if err != nil {
		return err
	}
	if env.Terminal {
		patch = []byte(render.Pictured(string(patch)))
	}
	_, err = env.Stdout.Write(patch)
	return err
}

// ask asks on the terminal; anything but yes, and no terminal, is no. The error
// is the end of ctx, for which nobody has to press enter.
func ask(ctx context.Context, env Env, question string) (bool, error) {
	if !env.Terminal {
		fmt.Fprintln(env.Stderr, "there is no terminal to ask on; use --yes")
		return false, nil
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
