package setup

import (
	"os"
	"path/filepath"
	"strings"
)

// File is one file of a new program, by its path.
type File struct{ Path, Text string }

// Write writes the file, with the directories above it.
func (f File) Write() error {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(f.Path, []byte(f.Text), 0o644)
}

// NewProgram is a program that runs as it stands, in the directory of programs,
// with its target and evaluation below root.
func NewProgram(root, dir, name string) []File {
	work := "autoloop-" + name
	fill := strings.NewReplacer("NAME", name, "DIR", work).Replace
	return []File{
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
