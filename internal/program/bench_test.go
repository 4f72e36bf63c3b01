package program_test

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
