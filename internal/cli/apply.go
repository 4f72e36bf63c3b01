package cli

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
)

func newApplyCommand(env Env, o *iterateOptions) *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "apply PROGRAM",
		Short: "Merge what was kept into the branch that is checked out",
		Long: "Show what the program branch changes and what was gained, ask, and merge it into the branch that is checked\n" +
			"out. Where both changed the same lines the files are named, and nothing is merged.\n" +
			"Without a terminal to ask on, nothing is merged unless --yes is given.",
		Example: "  iterate apply speed\n  iterate apply speed --yes",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := *o
			o.Program = args[0]
			return asObject(env, asJSON, func(env Env) (*applied, error) { return apply(cmd.Context(), env, o, yes) })
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "merge without asking")
	objectFlag(cmd.Flags(), &asJSON)
	return cmd
}

// applied is what there was to merge and whether it was, as JSON.
type applied struct {
	Program string `json:"program"`
	Branch  string `json:"branch"`
	Commit  string `json:"commit"`
	// Commits are the gains that were not merged before.
	Commits int           `json:"commits"`
	Before  *metric.Value `json:"previous_metric"`
	Now     *metric.Value `json:"metric"`
	// Merged says that nothing is left to merge.
	Merged bool `json:"merged"`
	// Conflicts are files that both changed, or that were not committed.
	Conflicts []string `json:"conflicts,omitempty"`
}

func apply(ctx context.Context, env Env, o iterateOptions, yes bool) (*applied, error) {
	o.Local = true // what is merged is the branch that is here
	deps, err := app.Open(ctx, env, o.Options)
	if err != nil {
		return nil, err
	}
	kept, err := deps.Kept(ctx, deps.Options.Program)
	if err != nil {
		return nil, err
	}
	done := &applied{
		Program: deps.Options.Program, Branch: kept.Branch, Commit: kept.Head, Commits: kept.Commits, Before: kept.Before, Now: kept.Now,
		Merged: kept.Merged(), Conflicts: slices.Concat(kept.Conflicts, kept.Unsaved),
	}
	if done.Merged {
		fmt.Fprintf(env.Stdout, "%s is merged already\n", kept.Branch)
		return done, nil
	}
	if err := showChange(ctx, env, deps.Repo, kept.Base, kept.Head); err != nil {
		return nil, err
	}
	fmt.Fprintln(env.Stdout, kept)
	if err := kept.Conflict(); err != nil {
		return done, err
	}
	if !yes {
		agreed, err := ask(ctx, env, fmt.Sprintf("merge %s? [y/n] ", kept.Branch))
		if err != nil || !agreed {
			fmt.Fprintln(env.Stdout, "nothing was merged")
			return done, err
		}
	}
	out, err := deps.Repo.MergeInto(ctx, env.Environ, kept.Branch, fmt.Sprintf("Merge branch '%s'", kept.Branch))
	if err != nil {
		return nil, fmt.Errorf("%w; nothing is lost: see `git status`", err)
	}
	fmt.Fprint(env.Stdout, out)
	done.Merged = true
	return done, nil
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
