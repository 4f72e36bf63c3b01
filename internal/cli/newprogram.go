package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/store"
)

func newNewCommand(env Env, o *schedulerOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "new NAME",
		Short: "Write a program that runs as it stands",
		Long: "Write a filled-in program file, a small target with a number for the tuner, and an evaluation of a\n" +
			"few lines. It runs as it stands; then replace goal, target and evaluation with your own.",
		Example: "  scheduler new speed\n  git add -A && git commit -m 'Add program speed'\n  iterate --program speed -n 5",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return newProgramFiles(cmd.Context(), env, *o, args[0])
		},
	}
}

func newProgramFiles(ctx context.Context, env Env, o schedulerOptions, name string) error {
	if err := program.ValidName(name); err != nil {
		return &UsageError{err}
	}
	root, _, err := o.root(ctx, env)
	if err != nil {
		return err
	}
	dir := filepath.FromSlash(store.DefaultPrograms)
	if o.programs != "" {
		dir = o.programs
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	target := "autoloop-" + name + "/"
	files := map[string]string{
		filepath.Join(dir, name+".md"):               strings.NewReplacer("NAME", name, "DIR/", target).Replace(newTemplate),
		filepath.Join(root, target, "settings.conf"): newTarget,
		filepath.Join(root, target, "evaluate.sh"):   newEvaluation,
	}
	for file := range files {
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
			return Usagef("%s exists already; choose another name, or remove it", file)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
		return Usagef("%s claims the name %s already", filepath.Join(dir, name), name)
	}
	for file, text := range files {
		if err := demoWrite(file, []byte(text)); err != nil {
			return err
		}
	}
	fmt.Fprintf(env.Stdout, "written: %s\nwritten: %s\nwritten: %s\n\nnext:\n  git add -A && git commit -m \"Add program %s\"\n  iterate --program %s -n 5\n",
		filepath.Join(dir, name+".md"), filepath.Join(root, target, "settings.conf"), filepath.Join(root, target, "evaluate.sh"), name, name)
	return nil
}

const newTemplate = `---
schedule: every 6h
metric: error
metric_direction: lower
target-metric: 0.01
evaluation-runs: 1
---

# NAME

## Goal

Bring the error of the settings as near to zero as can be. Lower is better.

## Target

- ` + "`DIR/settings.conf`" + `

Do NOT modify:

- ` + "`DIR/evaluate.sh`" + `

## Evaluation

Prints one JSON object.

` + "```bash" + `
sh DIR/evaluate.sh
` + "```" + `
`

const newTarget = `# Numbers with a tune mark are changed by the built-in tuner.
width = 8.0 # tune: 0..10
depth = 1.0 # tune: 0..10
`

const newEvaluation = `#!/bin/sh
# Prints how far the settings are from where they do best.
cd "$(dirname "$0")" || exit 1
awk '
  $1 == "width" { width = $3 }
  $1 == "depth" { depth = $3 }
  END { printf "{\"error\": %.6f}\n", (width - 3)^2 + (depth - 7)^2 / 2 }
' settings.conf
`
