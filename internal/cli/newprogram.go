package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
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
		return misuse.New(err)
	}
	root, repo, err := o.root(ctx, env)
	if err != nil {
		return err
	}
	dir := memory.Programs{Root: root, Dir: o.programs}.Directory()
	files := newFiles(root, dir, name)
	taken := []string{filepath.Join(dir, name)}
	for _, file := range files {
		taken = append(taken, file.path)
	}
	for _, path := range taken {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return Usagef("%s exists already; choose another name, or remove it", path)
		}
	}
	var out strings.Builder
	for _, file := range files {
		if err := demoWrite(file.path, []byte(file.text)); err != nil {
			return err
		}
		fmt.Fprintf(&out, "written: %s\n", file.path)
	}
	out.WriteString("\nnext:\n")
	if repo == nil {
		out.WriteString("  git init\n")
	}
	fmt.Fprintf(&out, "  git add -A && git commit -m \"Add program %s\"\n  iterate --program %s -n 5%s\n", name, name, programsFlag(o.programs))
	_, err = io.WriteString(env.Stdout, out.String())
	return err
}

// programsFlag is what a command that is shown needs where programs are kept.
func programsFlag(dir string) string {
	if dir == "" {
		return ""
	}
	return " --programs " + process.QuoteWord(dir)
}

// newFile is one file of a new program.
type newFile struct{ path, text string }

func newFiles(root, dir, name string) []newFile {
	work := "autoloop-" + name
	fill := strings.NewReplacer("NAME", name, "DIR", work).Replace
	return []newFile{
		{filepath.Join(dir, name+".md"), fill(newTemplate)},
		{filepath.Join(root, work, "settings.conf"), newTarget},
		{filepath.Join(root, work, "evaluate.sh"), newEvaluation},
	}
}

const newTemplate = `---
schedule: every 6h
metric: error
metric_direction: lower
target-metric: 0.01
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
# Prints how far the settings are from where they do best, as JSON.
cd "$(dirname "$0")" || exit 1
LC_ALL=C awk '
  $1 == "width" { width = $3 }
  $1 == "depth" { depth = $3 }
  END { printf "{\"error\": %.6f}\n", (width - 3)^2 + (depth - 7)^2 / 2 }
' settings.conf
`
