package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/evalrun"
)

func (a *App) newSkillCommand() *cobra.Command {
	var o skillRunOptions
	cmd := &cobra.Command{
		Use:   "skill [PATH]",
		Short: "Improve a skill against its eval suite",
		Long: `A skill is a directory with a SKILL.md; its eval suite is evals/evals.json in it. An agent changes a
copy, the suite measures it, and what is strictly better is the next version in the workspace
PATH-autoresearch. At the end it asks whether the skill is to become the best one; without a terminal
and without --yes it stays as it is. A second run goes on where the first ended.

docs/reference/skill-suites.md has the files, docs/explain/skills.md the rules.`,
		Example: "  iterate skill skills/release-notes --agent claude -n 5",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			p, err := a.flagged(cmd, program.Skill, statistics.RunsNeeded(skill.Confidence))
			if err != nil {
				return err
			}
			return asObject(a, func() (*skillResult, error) {
				return a.runSkill(cmd.Context(), args[0], p, &o)
			})
		},
	}
	a.skillFlags(cmd, &o)
	cmd.AddCommand(
		a.skillCommand("score WORKSPACE N", "Compute the pass rate of an iteration of a skill from its gradings",
			`Read iteration-N/eval-<id>/grading.json for every case of the suite in v0 and print the mean pass
rate; 0 is the original. What the grading does not answer has not passed, and a case without a
grading counts 0. Of several runs the score is the median.`,
			"  iterate skill score skills/release-notes-autoresearch 3 --json", a.scoreIteration),
		a.skillCommand("snapshot SRC DST", "Keep the state of a directory as a read-only snapshot",
			`Copy SRC to the snapshot DST, with modes and links, and write DST.manifest.json beside it: path, mode,
SHA-256 and link target of everything. .git is left out. A link that leads out of SRC is refused.
A snapshot that is at DST is replaced, and left alone when nothing changed.`,
			"  iterate skill snapshot skills/release-notes /tmp/before", a.takeSnapshot),
		a.skillCommand("restore SNAPSHOT DIR", "Make a directory equal to a snapshot",
			`Make DIR exactly what SNAPSHOT is: content, modes and links, and nothing besides. .git is not
touched. A snapshot that is missing, cut off or altered is an error, and nothing is changed.`,
			"  iterate skill restore /tmp/before skills/release-notes", a.restoreSnapshot),
	)
	return cmd
}

// skillCommand is one below `iterate skill`, which takes two arguments.
func (a *App) skillCommand(use, short, long, example string, do func(context.Context, []string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: cobra.ExactArgs(2), RunE: run(do)}
	a.jsonFlag(cmd)
	return cmd
}

func (a *App) scoreIteration(ctx context.Context, args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil || n < 0 {
		return misuse.Errorf("%q is no number of an iteration: give 0 or more", args[1])
	}
	w, err := skill.OpenWorkspace(ctx, a.Path(args[0]), a.Stderr)
	if err != nil {
		return err
	}
	found, err := a.versionsOf(w).Score(ctx, n)
	if err != nil {
		return err
	}
	return a.print(found, found)
}

// skillChange are the flags of `iterate apply` and `undo` for a workspace.
type skillChange struct {
	skill.ChangeOptions

	dir string // of the skill
}

// changeSkill opens a workspace, and does something to its skill.
func (a *App) changeSkill(ctx context.Context, dir string, change skillChange,
	do func(*skill.Versions, context.Context, skill.ChangeOptions) (*skill.Changed, error),
) error {
	return asObject(a, func() (*skill.Changed, error) {
		w, err := skill.OpenWorkspace(ctx, a.Path(dir), a.Stderr)
		if err != nil {
			return nil, err
		}
		versions := a.versionsOf(w)
		if change.dir != "" {
			versions.Skill = a.Path(change.dir)
		}
		change.Yes = a.Yes
		return do(versions, ctx, change.ChangeOptions)
	})
}

// examineSkill examines the suite of a skill.
func (a *App) examineSkill(dir string) error {
	suited, err := evalrun.Load(a.Path(dir), ".", "")
	if err != nil {
		return err
	}
	findings := append([]suite.Finding{}, suite.Examine(suited.Cases, suited.Triggers)...)
	text := ""
	for _, f := range findings {
		where := "suite"
		if f.Case != "" {
			where = "case " + f.Case
		}
		text += fmt.Sprintf("%s: %s: %s\n", where, f.Kind, f.Message)
	}
	if text == "" {
		text = suited.Name + ": nothing found\n"
	}
	return verdict(a.print(struct {
		Name     string          `json:"name"`
		Findings []suite.Finding `json:"findings"`
	}{suited.Name, findings}, text), len(findings) > 0)
}

// reportSkill says how the improvement of a skill went; html is the file for a page, "" for
// none.
func (a *App) reportSkill(ctx context.Context, dir string, diff bool, html string) error {
	w, err := skill.OpenWorkspace(ctx, a.Path(dir), a.Stderr)
	if err != nil {
		return err
	}
	versions := a.versionsOf(w)
	r, patch, err := versions.Report(ctx, skill.BestVersion)
	switch {
	case err != nil:
		return err
	case html != "":
		return a.writeReport(html, r.Skill, r.HTML())
	case diff:
		_, err = a.Stdout.Write(patch)
		return err
	case a.JSON:
		return a.printJSON(r)
	}
	return versions.Show(r)
}

func (a *App) versionsOf(w *skill.Workspace) *skill.Versions {
	return &skill.Versions{
		Workspace: w, TempDir: a.TempDir(), Environ: a.Environ, Out: a.Stdout, Err: a.Stderr,
		Terminal: a.Terminal,
		Ask:      a.agree,
	}
}

func (a *App) takeSnapshot(ctx context.Context, args []string) error {
	taken, err := skill.TakeSnapshot(ctx, a.Path(args[0]), a.Path(args[1]))
	if err != nil {
		return err
	}
	became := "unchanged"
	if taken.Changed {
		became = fmt.Sprintf("%d of them written", taken.Written)
	}
	return a.print(taken,
		fmt.Sprintf("%s: %d files, %d bytes, %s, sha256 %s\n", args[1], taken.Files, taken.Bytes, became, taken.Digest))
}

func (a *App) restoreSnapshot(ctx context.Context, args []string) error {
	from, dir := args[0], args[1]
	above := filepath.Dir(a.Path(from))
	if _, err := os.Lstat(skill.ManifestFile(a.Path(from))); err != nil && skill.ForeignWorkspace(above) {
		if _, err := skill.OpenWorkspace(ctx, above, a.Stderr); err != nil {
			return err
		}
	}
	restored, err := skill.Restore(ctx, a.Path(from), a.Path(dir))
	if err != nil {
		return err
	}
	became := "it was so already"
	if restored.Changed {
		became = render.Count(restored.Written, "file") + " written, " + render.Count(restored.Removed,
			"entry", "entries") + " removed"
	}
	return a.print(restored, fmt.Sprintf("%s is as %s: %s\n", dir, from, became))
}
