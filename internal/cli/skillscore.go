package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/misuse"
)

func newScoreCommand(env Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "score WORKSPACE N",
		Short: "Compute the pass rate of an iteration of a skill from its gradings",
		Long: "Read iteration-N/eval-<id>/grading.json for every case of the suite in v0 and print the mean pass rate.\n" +
			"The flags alone count, not the grader's sums; what the grading does not answer has not passed, and a case\n" +
			"without a grading that can be read counts 0. 0 is the original. Of an iteration that was decided by several\n" +
			"runs, the score is the median of those that the decision counts, and the cases are of all of them.",
		Example: "  iterate skill score skills/release-notes-autoresearch 3 --json",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[1])
			if err != nil || n < 0 {
				return misuse.Errorf("%q is no number of an iteration: give 0 or more", args[1])
			}
			return scoreIteration(cmd.Context(), env, args[0], n, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

func scoreIteration(ctx context.Context, env Env, dir string, n int, asJSON bool) error {
	versions, err := openVersions(ctx, env, dir)
	if err != nil {
		return err
	}
	found, err := versions.Score(ctx, n)
	if err != nil {
		return err
	}
	return printEither(env, asJSON, found, found)
}
