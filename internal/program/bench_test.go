package program_test

import (
	"testing"

	"github.com/org/autoloop/internal/program"
)

const ordinary = `---
schedule: every 6h
metric: ops_per_sec
metric_direction: higher  # more is better
target-metric: 1500
timeout-minutes: 30
agent: tuner
---

# Faster parser

## Goal

Make ` + "`parser.go`" + ` faster without changing what it accepts. Higher is better.

## Target

Only modify these files:

- ` + "`internal/parser/*.go`" + `

Do NOT modify:

- ` + "`internal/parser/testdata/`" + `

## Evaluation

` + "```bash\nsh scripts/bench.sh\n```" + `

The metric is ` + "`ops_per_sec`" + `.
`

func BenchmarkParse(b *testing.B) {
	data := []byte(ordinary)
	b.Run("head", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			program.ParseHead(".autoloop/programs/parser.md", data)
		}
	})
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			program.Parse(".autoloop/programs/parser.md", data)
		}
	})
}
