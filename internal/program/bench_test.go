package program_test

import (
	"strings"
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

// frontmatters are the same program with a frontmatter of several kinds.
func frontmatters() map[string][]byte {
	budget := "budget: {iterations: 20, usd: 5, per: day}\n"
	list := "env: [A, B]\nguardrails:\n  - {metric: size, max-regression: 5%}\n"
	return map[string][]byte{
		"brackets": []byte("---\nbudget: " + strings.Repeat("[", 32_000) + "\n---\n"),
		"32 KB":    []byte("---\n" + strings.Repeat("env: [A, B, \"C\"] # more\n", 1200) + "---\n"),
		"plain":    []byte(ordinary), "budget": []byte(strings.Replace(ordinary, "---\n", "---\n"+budget, 1)),
		"list": []byte(strings.Replace(ordinary, "---\n", "---\n"+list, 1)),
	}
}

func BenchmarkParse(b *testing.B) {
	for name, data := range frontmatters() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				program.Parse(".autoloop/programs/parser.md", data)
			}
		})
	}
}
