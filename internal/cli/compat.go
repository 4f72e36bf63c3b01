package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
)

// compatTemplate writes the template that the original scheduler left where
// there was no programs directory.
func compatTemplate(ctx context.Context, env Env, o schedulerOptions) error {
	root, _, err := o.root(ctx, env)
	if err != nil {
		return err
	}
	dir := filepath.Join(root, filepath.FromSlash(memory.DefaultPrograms))
	if o.programs != "" {
		return nil
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "example.md"), []byte(exampleTemplate), 0o644); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "BOOTSTRAPPED: created %s/example.md locally (agent will create a draft PR)\n", memory.DefaultPrograms)
	return nil
}

const exampleTemplate = program.Sentinel + `
---
schedule: every 6h
# metric_direction: lower
# target-metric: 0.95
---

# Example program

## Goal

REPLACE THIS with what is to be improved, and how one would know.

## Target

- ` + "`REPLACE_WITH_FILE`" + `

## Evaluation

` + "```bash" + `
REPLACE_WITH_COMMAND
` + "```" + `

The metric is ` + "`REPLACE_WITH_METRIC_NAME`" + `.
`

// compatPlan puts a plan in the words of the original scheduler: it lists also the
// skipped program that was asked for, and has a size and a direction without one.
func compatPlan(plan *schedule.Plan) {
	conditions := map[string]*schedule.Standing{}
	for _, s := range plan.Standings {
		conditions[s.Program.Name] = s
		if plan.Selected != nil && *plan.Selected == s.Program.Name && s.Skip != "" {
			plan.Skipped = append(plan.Skipped, schedule.Skipped{Name: s.Program.Name, Reason: s.Skip, NextDue: s.NextDue})
		}
	}
	for i, skipped := range plan.Skipped {
		s := conditions[skipped.Name]
		switch s.Condition { //nolint:exhaustive // the original knows no others
		case schedule.Completed:
			plan.Skipped[i].Reason = "completed: target metric reached"
		case schedule.Paused:
			plan.Skipped[i].Reason = "paused: " + cmp.Or(s.Machine.PauseReason, "None")
		case schedule.Plateau:
			plan.Skipped[i].Reason = "plateau: 5 consecutive rejections"
		}
	}
	if plan.StateFileSizeBytes == nil {
		none := 0
		plan.StateFileSizeBytes = &none
	}
	if plan.SelectedMetricDirection == nil {
		higher := metric.Higher.String()
		plan.SelectedMetricDirection = &higher
	}
}

// compatList is a list as Python prints it.
func compatList(names []string) string {
	if len(names) == 0 {
		return "(none)"
	}
	return "['" + strings.Join(names, "', '") + "']"
}

// compatEnd prints the lines that callers of the original scheduler read, and
// ends with its exit codes.
func compatEnd(env Env, in schedule.Input, plan *schedule.Plan, forced error) error {
	say := func(format string, args ...any) { fmt.Fprintf(env.Stdout, format+"\n", args...) }
	for _, warning := range plan.Warnings {
		say("  Warning: %s", plain.Line(warning))
	}
	if plan.NoPrograms {
		say("NO_PROGRAMS_FOUND")
		return nil
	}
	names, skipped := make([]string, 0, len(plan.Standings)), make([]string, 0, len(plan.Skipped))
	for _, s := range plan.Standings {
		names = append(names, s.Program.Name)
		switch {
		case s.Condition == schedule.Unconfigured: // its state is not looked at
		case s.HasState:
			last := "None"
			if s.Machine.LastRun != nil {
				last = s.Machine.LastRun.Format(time.RFC3339)
			}
			say("  %s: last_run=%s, iteration_count=%d", s.Program.Name, last, s.Machine.IterationCount)
		default:
			say("  %s: no state file found (first run)", s.Program.Name)
			say("  %s: no state found (first run)", s.Program.Name)
		}
	}
	for _, s := range plan.Skipped {
		skipped = append(skipped, s.Name)
	}
	for _, failure := range plan.Errors {
		say("  Warning: %s: %s", failure.Name, plain.Line(failure.Place()))
	}
	var bad *schedule.ForcedError
	if errors.As(forced, &bad) {
		switch bad.Why { //nolint:exhaustive // the others have the words of this scheduler
		case "":
			say("requested program '%s' not found", plain.Line(in.Forced))
			say("ERROR: requested program '%s' not found. Available programs: %s", plain.Line(in.Forced), compatList(names))
		case schedule.Unconfigured:
			say("ERROR: requested program '%s' is unconfigured (has placeholders).", in.Forced)
		}
		return &ExitError{Code: ExitFailed, Err: bad}
	}
	if in.Forced != "" && plan.Selected != nil {
		say("FORCED: running program '%s' (manual dispatch)", *plan.Selected)
	}
	selected, file := "(none)", "n/a"
	if plan.Selected != nil {
		selected = *plan.Selected
	}
	if plan.SelectedFile != nil {
		file = *plan.SelectedFile
	}
	say("=== Autoloop Program Check ===")
	say("Selected program:      %s (%s)", selected, file)
	say("Deferred (next run):   %s", compatList(plan.Deferred))
	say("Programs skipped:      %s", compatList(skipped))
	say("Programs unconfigured: %s", compatList(plan.Unconfigured))
	if plan.Selected == nil && len(plan.Unconfigured) == 0 {
		say("\nNo programs due this run. Exiting early.")
		return &ExitError{Code: ExitFailed}
	}
	return nil
}
