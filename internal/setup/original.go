package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/program/checkout"
)

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
