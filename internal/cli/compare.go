package cli

import (
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/render/page"
	"github.com/org/autoloop/internal/suite/score"
	"github.com/org/autoloop/internal/suite/taskrun"
)

// compareOptions are the flags of `iterate compare`.
type compareOptions struct {
	json, markdown, interleaved bool
	// html is the file for a page, settings that with the thresholds; "" for none.
	html, settings string
}

func newCompareCommand(env Env) *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare BASELINE.json CANDIDATE.json",
		Short: "Compare two outcomes of a task suite: improved, neutral or regressed",
		Long: `Compare what two configurations came to on a task suite, task by task and in sum, and say whether the
candidate may be promoted. It reads two files and runs nothing.

A file holds one run of the suite:

  {"configLabel": "main", "scores": [{"taskId": "add-flag", "objective": {"passed": 3, "total": 4},
    "judge": {"score0to1": 0.8}, "cost": {"tokens": 5200, "costUsd": 0.04}}]}

or several, {"configLabel": "main", "runs": [{"scores": […]}, …]}: then chance is told from change.
docs/explain/scoring.md has the rules.

The exit code is 0 for improved and neutral, 1 for regressed, and 2 when something cannot be read.`,
		Example: "  iterate compare main.json pull-request.json\n" +
			"  iterate compare main.json pull-request.json --markdown --settings .autoloop/programs/agents.md",
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return compareOutcomes(env, o, args[0], args[1]) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print a JSON object")
	cmd.Flags().BoolVar(&o.markdown, "markdown", false, "print markdown, for a comment or a summary")
	cmd.Flags().StringVar(&o.html, "html", "", "write a page to look at into this file, too")
	cmd.Flags().BoolVar(&o.interleaved, "interleaved", true,
		"the runs of both sides were made in turns; false compares whole runs, which share a day or a judge's session")
	cmd.Flags().StringVar(&o.settings, "settings", "",
		"take the thresholds from the frontmatter of this program `FILE`")
	return cmd
}

func compareOutcomes(env Env, o compareOptions, before, after string) error {
	if o.json && o.markdown {
		return misuse.Errorf("--json and --markdown exclude each other; give one of them")
	}
	settings, err := settingsOf(env, o.settings, program.Tasks)
	if err != nil {
		return err
	}
	thresholds, err := thresholdsOf(settings)
	if err != nil {
		return err
	}
	baseline, err := taskrun.ReadOutcome(env.Path(before), before)
	if err != nil {
		return err
	}
	candidate, err := taskrun.ReadOutcome(env.Path(after), after)
	if err != nil {
		return err
	}
	if len(baseline.Scores) == 0 && len(candidate.Scores) > 0 {
		return misuse.Errorf("%s has no tasks, but %s has %d: there is nothing to compare with; run the suite with "+
			"the baseline first", before, after, len(candidate.Scores))
	}
	thresholds.Shared = !o.interleaved
	found := render.Comparison{
		Comparison: score.Compare(baseline, candidate, thresholds), Before: baseline,
		After: candidate,
	}
	if err := env.Actions().AddSummary(found.Markdown() + "\n"); err != nil {
		return err
	}
	if o.html != "" {
		shown := page.Comparison{Generated: env.Now(), Comparison: found}
		if err := writePage(env, o.html, shown.Write); err != nil {
			return err
		}
	}
	if o.json {
		err = printEscapedJSON(env, found.Comparison)
	} else {
		err = printComparison(env, o.markdown, found)
	}
	if err != nil {
		return err
	}
	return verdict(compareOutputs(env, found.Verdict, found.Comparison, ""), found.Verdict == decision.Regressed)
}

// printComparison prints a comparison for people.
func printComparison(env Env, markdown bool, found render.Comparison) error {
	if markdown {
		_, err := io.WriteString(env.Stdout, found.Markdown())
		return err
	}
	if env.Color() {
		found.Paint = paintVerdict
	}
	_, err := io.WriteString(env.Stdout, found.Text())
	return err
}

func paintVerdict(verdict decision.Verdict, text string) string {
	colour := map[decision.Verdict]string{decision.Improved: green, decision.Neutral: yellow, decision.Regressed: red}
	return colour[verdict] + text + plainColor
}

// compareOutputs are those of a comparison. Its report is the one that was
// written to a directory, else one of ours.
func compareOutputs(env Env, verdict decision.Verdict, found any, dir string) error {
	if !env.InActions() {
		return nil
	}
	file := filepath.Join(env.Path(dir), taskrun.ReportFile)
	if dir == "" {
		text, err := taskrun.ReportJSON(found)
		if err != nil {
			return err
		}
		output, err := env.OutputDir("")
		if err != nil {
			return err
		}
		if file, err = env.Actions().WriteReport(output, text); err != nil {
			return err
		}
	}
	return env.Actions().SetOutputs(actions.Output{Name: "verdict", Value: string(verdict)},
		actions.Output{Name: "report", Value: file})
}
