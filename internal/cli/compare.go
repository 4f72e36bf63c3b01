package cli

import (
	"io"
	"path/filepath"

	"github.com/fatih/color"
	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/render/page"
	"github.com/org/autoloop/internal/tasks/score"
	"github.com/org/autoloop/internal/tasks/taskrun"
)

// compareOptions are the flags of `iterate compare`.
type compareOptions struct {
	json, markdown, interleaved bool
	// html is the file for a page; "" for none.
	html       string
	thresholds thresholdFlags
}

func newCompareCommand(env Env) *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare BASELINE.json CANDIDATE.json",
		Short: "Compare two outcomes of a task suite: improved, neutral or regressed",
		Long: "Compare what a candidate configuration came to on a task suite with what the baseline came to, task by\n" +
			"task and in sum, and say whether it may be promoted. It reads two files and runs nothing.\n\n" +
			"A file holds one run of the suite:\n\n" +
			"  {\"configLabel\": \"main\", \"scores\": [{\"taskId\": \"add-flag\", \"objective\": {\"passed\": 3, \"total\": 4},\n" +
			"    \"judge\": {\"score0to1\": 0.8}, \"cost\": {\"tokens\": 5200, \"costUsd\": 0.04}}]}\n\n" +
			"or several, {\"configLabel\": \"main\", \"runs\": [{\"scores\": […]}, …]}: then chance is told from change.\n" +
			"`jq -s '{runs: .}' run-*.json` makes one file of several. docs/explain/scoring.md has the rules.\n\n" +
			"The exit code is 0 for improved and neutral, 1 for regressed, and 2 when something cannot be read.\n" +
			"In GitHub Actions the report is added to the job summary too.",
		Example: "  iterate compare main.json pull-request.json\n" +
			"  iterate compare main.json pull-request.json --json --cost-tolerance 0.25\n" +
			"  iterate compare main.json pull-request.json --markdown --program .autoloop/programs/agents.md",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return compareOutcomes(env, o, cmd, args[0], args[1])
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print a JSON object")
	cmd.Flags().BoolVar(&o.markdown, "markdown", false, "print markdown, for a comment or a summary")
	cmd.Flags().StringVar(&o.html, "html", "", "write a page to look at into this file, too")
	cmd.Flags().BoolVar(&o.interleaved, "interleaved", true, "the runs of both sides were made in turns; false compares whole runs, which share a day or a judge's session")
	o.thresholds.register(cmd.Flags())
	return cmd
}

func compareOutcomes(env Env, o compareOptions, cmd *cobra.Command, before, after string) error {
	if o.json && o.markdown {
		return misuse.Errorf("--json and --markdown exclude each other; give one of them")
	}
	thresholds, err := o.thresholds.read(env, cmd.Flags())
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
		return misuse.Errorf("%s has no tasks, but %s has %d: there is nothing to compare with; run the suite with the baseline first", before, after, len(candidate.Scores))
	}
	thresholds.Shared = !o.interleaved
	found := render.Comparison{Comparison: score.Compare(baseline, candidate, thresholds), Before: baseline, After: candidate}
	if err := printComparison(env, o, found); err != nil {
		return err
	}
	return verdict(compareOutputs(env, found.Verdict, found.Comparison, ""), found.Verdict == decision.Regressed)
}

func printComparison(env Env, o compareOptions, found render.Comparison) error {
	if err := env.Actions().AddSummary(found.Markdown() + "\n"); err != nil {
		return err
	}
	if err := o.page(env, found); err != nil {
		return err
	}
	var err error
	switch {
	case o.json:
		err = printEscapedJSON(env, found.Comparison)
	case o.markdown:
		_, err = io.WriteString(env.Stdout, found.Markdown())
	default:
		if env.Color() {
			found.Paint = paintVerdict
		}
		_, err = io.WriteString(env.Stdout, found.Text())
	}
	return err
}

// page writes the comparison as HTML, where that is asked for.
func (o compareOptions) page(env Env, found render.Comparison) error {
	if o.html == "" {
		return nil
	}
	shown := page.Comparison{Generated: env.Now(), Comparison: found}
	return writePage(env, o.html, shown.Write)
}

func paintVerdict(verdict decision.Verdict, text string) string {
	paint := color.New(color.FgYellow)
	switch verdict {
	case decision.Improved:
		paint = color.New(color.FgGreen)
	case decision.Regressed:
		paint = color.New(color.FgRed)
	case decision.Neutral:
	}
	paint.EnableColor()
	return paint.Sprint(text)
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
	return env.Actions().SetOutputs(actions.Output{Name: "verdict", Value: string(verdict)}, actions.Output{Name: "report", Value: file})
}
