package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/evals"
	"github.com/org/autoloop/internal/report"
	"github.com/org/autoloop/internal/score"
	"github.com/org/autoloop/internal/snapshot"
	"github.com/org/autoloop/internal/suite"
)

func newScoreCommand(env Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "score WORKSPACE N",
		Short: "Compute the pass rate of an iteration of a skill from its gradings",
		Long: "Read iteration-N/eval-<id>/grading.json for every case of the suite in v0 and print the mean pass rate.\n" +
			"The flags alone count, not the grader's sums; what the grading does not answer has not passed, and a case\n" +
			"without a grading that can be read counts 0. 0 is the original.",
		Example: "  iterate score skills/release-notes-autoresearch 3 --json",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[1])
			if err != nil || n < 0 {
				return Usagef("%q is no number of an iteration: give 0 or more", args[1])
			}
			return scoreIteration(cmd.Context(), env, args[0], n, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

// scored is `iterate score --json`.
type scored struct {
	Score score.Value  `json:"score"`
	Cases []scoredCase `json:"cases"`
}

type scoredCase struct {
	ID       string      `json:"id"`
	Passed   int         `json:"passed"`
	Total    int         `json:"total"`
	PassRate score.Value `json:"pass_rate"`
	Problem  *string     `json:"problem"`
}

func scoreIteration(ctx context.Context, env Env, dir string, n int, asJSON bool) error {
	w, err := snapshot.OpenWorkspace(env.path(dir))
	if err != nil {
		return err
	}
	skill, err := workspaceSkill(ctx, env, w)
	if err != nil {
		return err
	}
	result, err := evals.Read(skill, w.Iteration(n))
	if err != nil {
		return fmt.Errorf("iteration %d was not run: %w", n, err)
	}
	found := scored{Score: suite.RateValue(result.Rate)}
	table := report.Table{Header: []string{"case", "passed", "total", "rate", "problem"}, Right: map[int]bool{1: true, 2: true, 3: true}}
	for _, c := range result.Cases {
		one := scoredCase{ID: c.ID, Passed: c.Passed, Total: c.Total, PassRate: suite.RateValue(c.PassRate())}
		if c.Problem != "" {
			one.Problem = &c.Problem
		}
		found.Cases = append(found.Cases, one)
		table.Rows = append(table.Rows, []string{c.ID, strconv.Itoa(c.Passed), strconv.Itoa(c.Total), one.PassRate.String(), report.Plain(c.Problem, liveWidth)})
	}
	if asJSON {
		return printJSON(env, found)
	}
	_, err = fmt.Fprintf(env.Stdout, "%s\nscore %s\n", table, found.Score)
	return err
}

// workspaceSkill reads the suite that a workspace is scored by: v0's, which must
// be as it was taken. A v0 that a script made without a manifest is warned of.
func workspaceSkill(ctx context.Context, env Env, w *snapshot.Workspace) (*evals.Skill, error) {
	original := w.Version(0)
	if _, err := os.Lstat(snapshot.ManifestFile(original)); errors.Is(err, fs.ErrNotExist) && w.SuiteHash == "" {
		fmt.Fprintf(env.Stderr, "warning: %s has no manifest, so nothing says that its suite is the one it began with\n", original)
		return evals.Load(original, ".", "")
	}
	suiteFiles, err := snapshot.VerifyBelow(ctx, original, suite.EvalDir)
	if err != nil {
		return nil, err
	}
	if w.SuiteHash != "" && suiteFiles.Digest() != w.SuiteHash {
		return nil, fmt.Errorf("the suite in %s is not that of manifest.json; begin a new workspace", original)
	}
	return evals.Load(original, ".", "")
}
