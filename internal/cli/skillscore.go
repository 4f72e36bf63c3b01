package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/skill"
)

func (a *App) newScoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "score WORKSPACE N",
		Short: "Compute the pass rate of an iteration of a skill from its gradings",
		Long: `Read iteration-N/eval-<id>/grading.json for every case of the suite in v0 and print the mean pass
rate; 0 is the original. What the grading does not answer has not passed, and a case without a
grading counts 0. Of several runs the score is the median.`,
		Example: "  iterate skill score skills/release-notes-autoresearch 3 --json",
		Args:    cobra.ExactArgs(2),
		RunE:    run(a.scoreIteration),
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *App) scoreIteration(ctx context.Context, args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil || n < 0 {
		return misuse.Errorf("%q is no number of an iteration: give 0 or more", args[1])
	}
	w, err := skill.Open(ctx, a.Path(args[0]), a.Stderr)
	if err != nil {
		return err
	}
	found, err := a.versionsOf(w).Score(ctx, n)
	if err != nil {
		return err
	}
	return a.print(found, found)
}
