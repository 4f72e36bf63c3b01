package cli

import (
	"fmt"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/tasks/taskrun"
)

// deliver writes and prints the report; the verdict is the exit code.
func (o *tasksOptions) deliver(env Env, found taskrun.Report) error {
	if o.report != "" {
		var err error
		if found, err = taskrun.WriteReport(env.Path(o.report), found); err != nil {
			return err
		}
	}
	if err := printTaskReport(env, o.output, found); err != nil {
		return err
	}
	return verdict(compareOutputs(env, found.Verdict, found, o.report), found.Verdict == decision.Regressed)
}

func printTaskReport(env Env, o compareOptions, found taskrun.Report) error {
	shown := found.Shown()
	if !o.json {
		return printComparison(env, o, shown)
	}
	for _, warning := range found.Warnings {
		fmt.Fprintln(env.Stderr, "warning:", plain.Short(warning, maxWarning))
	}
	if err := o.page(env, shown); err != nil {
		return err
	}
	if err := env.Actions().AddSummary(shown.Markdown() + "\n"); err != nil {
		return err
	}
	text, err := taskrun.ReportJSON(found)
	if err != nil {
		return err
	}
	_, err = env.Stdout.Write(text)
	return err
}

const maxWarning = 400
