package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/evalrun"
	"github.com/org/autoloop/internal/skill/evals"
	"github.com/org/autoloop/internal/skill/workspace"
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

// scored is `iterate skill score --json`.
type scored struct {
	Score metric.Value `json:"score"`
	// Runs are those that count: one, or as many as the decision was made by.
	Runs  []scoredRun  `json:"runs"`
	Cases []scoredCase `json:"cases"`
}

type scoredRun struct {
	Dir   string       `json:"dir"` // from the iteration's directory, "." for its own
	Score metric.Value `json:"score"`
}

type scoredCase struct {
	ID string `json:"id"`
	// Passed and Total are sums over the runs, and PassRate is their quotient.
	Passed   int          `json:"passed"`
	Total    int          `json:"total"`
	PassRate metric.Value `json:"pass_rate"`
	Problem  *string      `json:"problem"`
	// Runs are the passed of each run, in the order of the runs.
	Runs []int `json:"runs"`
}

// newScoredCase is a case over all of its runs.
func newScoredCase(c evals.CaseScore) scoredCase {
	one := scoredCase{ID: c.ID, Passed: c.Passed, Total: c.Total, PassRate: evals.RateValue(c.PassRate()), Problem: text(c.Trouble()), Runs: []int{c.Passed}}
	if c.Runs != nil {
		one.Runs = nil
	}
	for _, run := range c.Runs {
		one.Runs = append(one.Runs, run.Passed)
	}
	return one
}

func scoreIteration(ctx context.Context, env Env, dir string, n int, asJSON bool) error {
	w, err := openWorkspace(ctx, env, env.Path(dir))
	if err != nil {
		return err
	}
	suited, err := workspaceSkill(ctx, env, w)
	if err != nil {
		return err
	}
	dirs, err := skill.IterationRuns(w.Iteration(n))
	if err != nil {
		return err
	}
	result, err := readRuns(suited, w.Iteration(n), dirs)
	if errors.Is(err, fs.ErrNotExist) {
		return notMeasured(w, n)
	}
	if err != nil {
		return err
	}
	found := scored{Score: evals.RateValue(result.Rate)}
	for i, run := range result.Runs() {
		found.Runs = append(found.Runs, scoredRun{dirs[i], evals.RateValue(evals.MeanPassRate(run))})
	}
	table := render.Table{Header: []string{"case", "passed", "total", "rate", "problem"}, Right: map[int]bool{1: true, 2: true, 3: true}}
	for _, c := range result.Cases {
		one := newScoredCase(c)
		found.Cases = append(found.Cases, one)
		table.Rows = append(table.Rows, []string{c.ID, strconv.Itoa(c.Passed), strconv.Itoa(c.Total), render.ShortValue(&one.PassRate), plain.Short(c.Trouble(), liveWidth)})
	}
	if asJSON {
		return printJSON(env, found)
	}
	over := ""
	if len(found.Runs) > 1 {
		over = fmt.Sprintf(", the median of %d runs; passed and total are sums over them", len(found.Runs))
	}
	_, err = fmt.Fprintf(env.Stdout, "%s\nscore %s%s\n", table, render.ShortValue(&found.Score), over)
	return err
}

// readRuns puts runs of an iteration together.
func readRuns(suited *evalrun.Skill, iteration string, dirs []string) (evalrun.Result, error) {
	var places []string
	for _, dir := range dirs {
		places = append(places, filepath.Join(iteration, dir))
	}
	return evalrun.ReadAll(suited, places...)
}

// notMeasured says why an iteration has no score.
func notMeasured(w *workspace.Workspace, n int) error {
	table, err := w.Results()
	if err != nil {
		return err
	}
	for _, row := range table.Rows() {
		if row.Iteration == n {
			return fmt.Errorf("iteration %d was not measured: %s", n, plain.Short(row.Changelog, liveWidth))
		}
	}
	return fmt.Errorf("iteration %d was not run: %s has no such iteration", n, w.Dir)
}

// workspaceSkill reads the suite that a workspace is scored by: v0's, which must
// be as it was taken. A v0 that a script made without a manifest is warned of.
func workspaceSkill(ctx context.Context, env Env, w *workspace.Workspace) (*evalrun.Skill, error) {
	original := w.Version(0)
	if _, err := os.Lstat(workspace.ManifestFile(original)); errors.Is(err, fs.ErrNotExist) && w.SuiteHash == "" {
		fmt.Fprintf(env.Stderr, "warning: %s has no manifest, so nothing says that its suite is the one it began with\n", original)
		return suiteOf(original)
	}
	suiteFiles, err := workspace.VerifyBelow(ctx, original, evals.Dir)
	if err != nil {
		return nil, err
	}
	if w.SuiteHash != "" && suiteFiles.Digest() != w.SuiteHash {
		return nil, fmt.Errorf("the suite in %s is not that of manifest.json: its cases changed; begin a new workspace with --fresh", original)
	}
	return suiteOf(original)
}

// suiteOf reads the suite of a workspace's v0. Nobody corrects that one.
func suiteOf(original string) (*evalrun.Skill, error) {
	found, err := evalrun.Load(original, ".", "")
	if err != nil {
		return nil, fmt.Errorf("the suite in %s cannot be used and stays as it is; correct that of the skill, and begin a new workspace with --fresh: %w", original, err)
	}
	return found, nil
}
