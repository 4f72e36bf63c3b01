package setup

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/program/checkout"
)

// FirstProgram are the steps that write a program which was measured, nil for the
// example of a name that runs as it stands.
func FirstProgram(root, dir, name string, fitted *Fitted) ([]Step, error) {
	at, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(at) {
		return nil, misuse.Errorf("--programs %s is not in the repository", dir)
	}
	if fitted != nil {
		name = fitted.Name
	}
	file := path.Join(filepath.ToSlash(at), name) + ".md"
	var steps []Step
	if fitted != nil {
		steps = []Step{{Name: file, Text: fitted.Text, Why: "(" + fitted.Why + ": " + fitted.String() + ")"}}
	} else {
		work, why := "autoloop-"+name, "(an example that runs as it stands)"
		steps = []Step{
			{Name: file, Text: strings.NewReplacer("NAME", name, "DIR", work).Replace(newTemplate), Why: why},
			{Name: work + "/settings.conf", Text: newTarget, Why: why},
			{Name: work + "/evaluate.sh", Text: newEvaluation, Why: why},
		}
	}
	for i, s := range steps {
		for _, taken := range []string{s.Name, strings.TrimSuffix(s.Name, ".md")} {
			if exists(root, taken) {
				return nil, misuse.Errorf("%s exists already; choose another name, or remove it",
					filepath.Join(root, filepath.FromSlash(taken)))
			}
		}
		if err := insideOnly(root, s.Name); err != nil {
			return nil, err
		}
		steps[i].Action = Create
	}
	return steps, nil
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

Gives one JSON object.

` + "```bash" + `
sh DIR/evaluate.sh > "$AUTOLOOP_RESULT"
` + "```" + `
`

const newTarget = `# Numbers with a tune mark are changed by the built-in tuner.
width = 8.0 # tune: 0..10
depth = 1.0 # tune: 0..10
`

const newEvaluation = `#!/bin/sh
# Prints how far the settings are from where they do best, as JSON. Settings that it
# cannot read are no settings: then it fails.
cd "$(dirname "$0")" || exit 1
LC_ALL=C awk '
  /^#/ { next }
  $2 != "=" || $3 + 0 != $3 { bad = 1 }
  { is[$1] = $3 }
  END {
    if (bad || !("width" in is) || !("depth" in is)) exit 1
    printf "{\"error\": %.6f}\n", (is["width"] - 3)^2 + (is["depth"] - 7)^2 / 2
  }
' settings.conf
`

// OriginalTemplate writes the template that the original scheduler left where there
// was no directory of programs.
func OriginalTemplate(root string) (written bool, err error) {
	dir := filepath.Join(root, filepath.FromSlash(checkout.DefaultPrograms))
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, err
	}
	return true, os.WriteFile(filepath.Join(dir, "example.md"), []byte(originalTemplate), 0o644)
}

const originalTemplate = program.Sentinel + `
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
