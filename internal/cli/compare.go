package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/tasks"
)

func (a *App) newCompareCommand() *cobra.Command {
	var markdown bool
	var html string
	cmd := &cobra.Command{
		Use:   "compare BASELINE.json CANDIDATE.json",
		Short: "Compare two outcomes of a task suite: improved, neutral or regressed",
		Long: `Compare what two configurations came to on a task suite, task by task and in sum, and say whether the
candidate may be promoted. It reads two files and runs nothing.

A file holds one run of the suite, or several as "runs":

  {"configLabel": "main", "scores": [{"taskId": "add-flag", "objective": {"passed": 3, "total": 4}}]}

docs/howto/compare-outcomes.md has its other keys, docs/explain/scoring.md the rules.

The exit code is 0 for improved and neutral, 1 for regressed, and 2 when something cannot be read.`,
		Example: "  iterate compare main.json pull-request.json\n" +
			"  iterate compare main.json pull-request.json --markdown --settings .autoloop/programs/agents.md",
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := a.settings(program.Tasks)
			if err != nil {
				return err
			}
			var sides [2]tasks.SuiteOutcome
			for i, name := range args {
				if sides[i], err = evalrun.ReadOutcome(a.Path(name), name); err != nil {
					return err
				}
			}
			if len(sides[0].Scores) == 0 && len(sides[1].Scores) > 0 {
				return misuse.Errorf("%s has no tasks, but %s has %d: there is nothing to compare with; run the suite "+
					"with the baseline first", args[0], args[1], len(sides[1].Scores))
			}
			found := tasks.Report{
				Comparison: tasks.Compare(sides[0], sides[1], p.Thresholds), Baseline: sides[0], Candidate: sides[1],
			}
			return a.deliverComparison(found, found.Comparison, html, "", markdown)
		},
	}
	a.jsonFlag(cmd)
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print markdown, for a comment or a summary")
	cmd.Flags().StringVar(&html, "html", "", "write a page to look at into this file, too")
	cmd.Flags().StringVar(&a.Settings, "settings", "",
		"take the thresholds from the frontmatter of this program `FILE`")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	return cmd
}

// deliverComparison writes a comparison to a page, "" for none, tells GitHub Actions of it and
// prints it, for programs as value. Its report is in the directory out, "" for nowhere yet.
func (a *App) deliverComparison(report tasks.Report, value any, html, out string, markdown bool) error {
	found := render.Comparison(report)
	if html != "" {
		if err := a.writeReport(html, "Comparison", found.HTML()); err != nil {
			return err
		}
	}
	if err := a.AddSummary(found.Markdown() + "\n"); err != nil {
		return err
	}
	text := found.Markdown()
	if !markdown {
		text = colored(a.Env, found.Text())
	}
	err := a.print(value, text)
	if err != nil || !a.InActions() {
		return verdict(err, found.Verdict == decision.Regressed)
	}
	file := filepath.Join(a.Path(out), evalrun.ReportFile)
	if out == "" { // its report is one of ours
		output, err := a.outputDir()
		if err != nil {
			return err
		}
		if file, err = a.WriteReport(output, value); err != nil {
			return err
		}
	}
	err = a.SetOutputs(actions.Output{Name: "verdict", Value: string(found.Verdict)},
		actions.Output{Name: "report", Value: file})
	return verdict(err, found.Verdict == decision.Regressed)
}
