package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/history/memory"
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
	return os.WriteFile(filepath.Join(dir, "example.md"), []byte(exampleTemplate), 0o644)
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

// compatEnd prints the lines that callers of the original scheduler read, and
// ends with its exit codes.
func compatEnd(env Env, in schedule.Input, plan *schedule.Plan, forced error) error {
	if plan.NoPrograms {
		fmt.Fprintln(env.Stdout, "NO_PROGRAMS_FOUND")
	}
	for _, s := range plan.Standings {
		if !s.HasState {
			fmt.Fprintf(env.Stdout, "%s: no state file found (first run)\n", s.Program.Name)
		}
	}
	var bad *schedule.ForcedError
	if errors.As(forced, &bad) {
		if bad.Why == "" {
			fmt.Fprintf(env.Stdout, "requested program '%s' not found\n", in.Forced)
		}
		return &ExitError{Code: ExitFailed, Err: bad}
	}
	if in.Forced != "" && plan.Selected != nil {
		fmt.Fprintf(env.Stdout, "FORCED: running program '%s' (manual dispatch)\n", *plan.Selected)
	}
	if plan.Selected == nil && len(plan.Unconfigured) == 0 && !plan.NoPrograms {
		return &ExitError{Code: ExitFailed}
	}
	return nil
}
