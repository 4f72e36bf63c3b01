package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/evalrun"
	"github.com/org/autoloop/internal/skill/evals"
	"github.com/org/autoloop/internal/skill/workspace"
)

func newSkillReportCommand(env Env) *cobra.Command {
	var asJSON, diff bool
	var html string
	cmd := &cobra.Command{
		Use:   "report WORKSPACE",
		Short: "Say how the improvement of a skill went, and what to do with it",
		Long: "Print the trajectory, its class, what changed from v0 to the best version, what still fails, and a\n" +
			"recommendation, as markdown. docs/howto/apply-and-undo.md says how to read it.",
		Example: "  iterate skill report skills/release-notes-autoresearch\n" +
			"  iterate skill report skills/release-notes-autoresearch --diff | git apply --directory=skills/release-notes",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := openWorkspace(cmd.Context(), env, env.Path(args[0]))
			if err != nil {
				return err
			}
			r, patch, err := reportSkill(cmd.Context(), env, w, bestVersion)
			switch {
			case err != nil:
				return err
			case html != "":
				return skillPage(cmd.Context(), env, w, r, html)
			case diff:
				_, err = env.Stdout.Write(patch)
				return err
			case asJSON:
				return printJSON(env, r)
			}
			return printReport(env, r)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	cmd.Flags().BoolVar(&diff, "diff", false, "print the patch from v0 to the best version alone")
	cmd.Flags().StringVar(&html, "html", "", "write a page to look at into this file: cases and versions, evidence, the change")
	cmd.MarkFlagsMutuallyExclusive("json", "diff", "html")
	return cmd
}

// printReport prints markdown, on a terminal plain text.
func printReport(env Env, r render.SkillReport) error {
	text := r.Markdown()
	if env.Terminal {
		text = r.Text()
	}
	_, err := io.WriteString(env.Stdout, text)
	return err
}

// bestVersion asks for the best version, whichever that is.
const bestVersion = -1

// reportSkill puts the report together, with the patch to a version as it is.
func reportSkill(ctx context.Context, env Env, w *workspace.Workspace, version int) (r render.SkillReport, patch []byte, err error) {
	table, err := w.Results()
	if err != nil {
		return r, nil, err
	}
	rows := table.Rows()
	if version == bestVersion {
		version = render.Converge(rows, 0).BestVersion
	}
	suited, err := workspaceSkill(ctx, env, w)
	if err != nil {
		return r, nil, err
	}
	before, err := gradedCases(suited, w, startOf(rows), rows)
	if err != nil {
		return r, nil, err
	}
	after, err := gradedCases(suited, w, version, rows)
	if err != nil {
		return r, nil, err
	}
	r = render.NewSkillReport(rows, lostCases(before, after))
	r.Skill, r.Workspace, r.Failures, r.Cases = skillTitle(suited, w), w.Dir, failuresOf(after.Cases), casesOf(before, after)
	if suited.Graded() {
		r = r.WithGrader(feedbackOf(after))
	}
	figures, err := triggerFigures(suited, w, rows)
	if err != nil {
		return r, nil, err
	}
	r = r.WithTriggers(figures)
	patch, r.Changes, err = versionPatch(ctx, env, w, version)
	if err != nil {
		return r, nil, err
	}
	if r.Diff = string(patch); !utf8.Valid(patch) {
		r.Diff, r.DiffBase64 = string(bytes.ToValidUTF8(patch, []byte("\ufffd"))), base64.StdEncoding.EncodeToString(patch)
	}
	return r, patch, nil
}

// casesOf are the pass rates of the suite's cases before and after; none when
// neither was run.
func casesOf(before, after evalrun.Result) []render.SkillCase {
	var list []render.SkillCase
	for i := range max(len(before.Cases), len(after.Cases)) {
		var one render.SkillCase
		for _, side := range []struct {
			cases []evals.CaseScore
			to    **metric.Value
		}{{before.Cases, &one.Before}, {after.Cases, &one.After}} {
			if i < len(side.cases) {
				rate := evals.RateValue(side.cases[i].PassRate())
				one.ID, *side.to = side.cases[i].ID, &rate
			}
		}
		list = append(list, one)
	}
	return list
}

// feedbackOf is what graders say of the suite.
func feedbackOf(result evalrun.Result) []render.SkillFeedback {
	var list []render.SkillFeedback
	for _, c := range result.Cases {
		for _, text := range evalrun.Suggestions(result.Feedback[c.ID]) {
			list = append(list, render.SkillFeedback{Case: c.ID, Text: text})
		}
	}
	return list
}

// startOf is the version that later ones are held against: the last that was
// measured without a change.
func startOf(rows []results.Row) int {
	start := 0
	for _, row := range rows {
		if row.Action == results.Baseline {
			start = row.Iteration
		}
	}
	return start
}

// skillTitle is what the skill is called: by itself, by its suite, or by the
// place that it is in.
func skillTitle(skill *evalrun.Skill, w *workspace.Workspace) string {
	switch {
	case skill.Name != filepath.Base(skill.Dir):
		return skill.Name
	case skill.Evals.SkillName != "":
		return skill.Evals.SkillName
	default:
		return filepath.Base(cmp.Or(w.Skill, w.Dir))
	}
}

// gradedCases reads a version's cases, over all of its runs that a decision
// counts; none when it was not run.
func gradedCases(suited *evalrun.Skill, w *workspace.Workspace, version int, rows []results.Row) (evalrun.Result, error) {
	last := 0
	for _, row := range rows {
		last = max(last, row.Iteration)
	}
	dirs, err := skill.VersionRuns(w, version, last)
	if err != nil {
		return evalrun.Result{}, err
	}
	result, err := evalrun.ReadAll(suited, dirs...)
	if errors.Is(err, fs.ErrNotExist) {
		return evalrun.Result{}, nil
	}
	return result, err
}

// lostCases lists what the one version passed and the other does not; nothing
// when one of them was not run.
func lostCases(before, after evalrun.Result) []string {
	if len(before.Cases) == 0 || len(after.Cases) == 0 {
		return nil
	}
	return decision.LostCases(caseRates(before), caseRates(after))
}

func caseRates(r evalrun.Result) decision.CaseRates {
	var runs []map[string]metric.Value
	for _, cases := range r.Runs() {
		runs = append(runs, evals.CaseNumbers(cases))
	}
	return decision.RatesOf(runs...)
}

func failuresOf(cases []evals.CaseScore) []render.SkillFailure {
	failures := []render.SkillFailure{}
	for _, c := range cases {
		if c.Problem != "" {
			failures = append(failures, render.SkillFailure{Case: c.ID, Text: "the whole case", Evidence: c.Problem})
			continue
		}
		for _, failed := range c.Failed {
			failures = append(failures, render.SkillFailure{Case: c.ID, Text: failed.Text, Evidence: failed.Evidence})
		}
	}
	return failures
}

// versionPatch is what a version changes of the original; nothing for v0.
func versionPatch(ctx context.Context, env Env, w *workspace.Workspace, n int) ([]byte, []render.SkillChange, error) {
	if n == 0 {
		return nil, []render.SkillChange{}, nil
	}
	before, err := keptVersion(ctx, w, 0)
	if err != nil {
		return nil, nil, err
	}
	after, err := keptVersion(ctx, w, n)
	if err != nil {
		return nil, nil, err
	}
	patch, err := patchOf(ctx, env, before, after)
	return patch, changesOf(before, after), err
}

func keptVersion(ctx context.Context, w *workspace.Workspace, n int) (workspace.Kept, error) {
	found, err := workspace.Verify(ctx, w.Version(n))
	return workspace.Kept{Dir: w.Version(n), Tree: found}, err
}

// patchOf compares in a repository that is thrown away.
func patchOf(ctx context.Context, env Env, before, after workspace.Kept) (patch []byte, err error) {
	err = inScratch(ctx, env, func(repo *git.Repo) error {
		patch, err = workspace.Patch(ctx, repo, before, after)
		return err
	})
	return patch, err
}

// inScratch gives work a repository that is thrown away.
func inScratch(ctx context.Context, env Env, work func(*git.Repo) error) (err error) {
	dir, err := os.MkdirTemp(env.TempDir(), "autoloop-scratch-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tree.RemoveAll(dir)) }()
	repo, err := git.Scratch(ctx, dir, env.Environ)
	if err != nil {
		return err
	}
	return work(repo.WithTemp(dir))
}

// changesOf lists what differs, with modes and what is binary.
func changesOf(before, after workspace.Kept) []render.SkillChange {
	changes := []render.SkillChange{}
	for _, d := range workspace.Compare(before.Tree, after.Tree) {
		c := render.SkillChange{Path: d.Path, What: "changed"}
		if plain.Line(d.Path) != d.Path || !utf8.ValidString(d.Path) {
			c.Path = fmt.Sprintf("%q", d.Path)
		}
		switch {
		case d.Before == nil:
			c.What, c.Binary = "added", isBinary(after, d.After)
		case d.After == nil:
			c.What, c.Binary = "deleted", isBinary(before, d.Before)
		default:
			c.Binary = isBinary(after, d.After)
			if was, is := d.Before.Mode.Perm(), d.After.Mode.Perm(); was != is {
				c.Mode = fmt.Sprintf("%04o -> %04o", was, is)
			}
			if d.Before.Mode.Type() == d.After.Mode.Type() && d.Before.SHA256 == d.After.SHA256 && d.Before.Target == d.After.Target {
				c.What = "mode"
			}
		}
		changes = append(changes, c)
	}
	return changes
}

// isBinary looks as git does: for a zero byte in the first 8000.
func isBinary(in workspace.Kept, e *workspace.Entry) bool {
	if !e.IsFile() {
		return false
	}
	file, err := os.Open(filepath.Join(in.Dir, filepath.FromSlash(e.Path)))
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	const looked = 8000
	head, _ := io.ReadAll(io.LimitReader(file, looked))
	return bytes.IndexByte(head, 0) >= 0
}
