package program_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
)

func front(lines string) string { return "---\n" + lines + "\n---\n" }

// fields are what a program has in its fields, which are named one after the other.
func fields(p *program.Program, names string) string {
	var list []any
	for _, name := range strings.Fields(names) {
		v := reflect.ValueOf(p)
		for _, part := range strings.Split(name, ".") {
			v = reflect.Indirect(v).FieldByName(part)
		}
		list = append(list, v.Interface())
	}
	return strings.TrimSuffix(fmt.Sprintln(list...), "\n")
}

func TestEveryKey(t *testing.T) {
	for _, c := range []struct{ text, names string }{
		{
			"setup: x", "Direction Target Range Guardrails Evaluation Runs Schedule.Text NoCaseRegression",
		},
		{
			"setup: x", "Thresholds TrustedAssociations Plateau Timeout Jobs Judge",
		},
		{"schedule: every 6h", "Schedule.Text"},
		{"metric_direction: LOWER", "Direction"},
		{"target-metric: 0.95", "Target"},
		{"target-metric: -1.5186", "Target"},
		{"target-metric: '1e-7'", "Target"},
		{"metric: a.b_c", "Metric"},
		{"metric-range: [-1, 1.5]", "Range.Min Range.Max"},
		{"metric-range:\n- 0\n- 1", "Range.Max"},
		{"guardrails: [{metric: lag, direction: lower, max-regression: 5%}]", "Guardrails"},
		{
			"guardrails:\n  - metric: lag\n    direction: Higher\n    max_regression: 0.1\n" +
				"  - metric: size\n    direction: lower",
			"Guardrails",
		},
		{"evaluation: Metric", "Evaluation"},
		{
			"skill: skills/pdf/", "Evaluation Skill Evals Runs StopAfterReverts",
		},
		{
			"skill: s\nevals: e/evals.json\nevaluation-runs: 3\nstop-after-reverts: off", "Evals Runs StopAfterReverts",
		},
		{"tasks: ./suite", "Evaluation Tasks Runs"},
		{"tasks: suite\nskill: s\nevaluation: tasks", "Evaluation"},
		{"evaluation-runs: Auto", "Runs"},
		{"evaluation-runs: 1", "Runs"},
		{"evaluation-runs: 4", "Runs"},
		{"min-improvement: 0.5%", "MinImprovement"},
		{"min_improvement: 0.01", "MinImprovement"},
		{"confidence: 0.99", "Confidence"},
		{
			"min-composite-gain: 0.02\nregression-composite-drop: 0.1\n" +
				"objective-drop-is-regression: false\nnet-loss-is-regression: true\ncost-tolerance: 0.05",
			"Thresholds",
		},
		{"no-case-regression: yes", "NoCaseRegression"},
		{"judge: off\njudge-model: m", "Judge JudgeModel"},
		{"plateau: off", "Plateau PlateauGiven"},
		{"plateau: 7", "Plateau"},
		{"agent: tuner", "Plateau"},
		{"strategy: openevolve", "Plateau"},
		{"stop-after-reverts: 4", "StopAfterReverts"},
		{"timeout-minutes: 1.5", "Timeout"},
		{"evaluation-timeout: 1h30m", "EvaluationTimeout"},
		{"evaluation-timeout: 90 seconds", "EvaluationTimeout"},
		{"jobs: 8", "Jobs"},
		{"setup: npm ci", "Setup"},
		{"setup: |\n  npm ci\n  make: x", "Setup"},
		{"share: [node_modules, ./.venv/]", "Share"},
		{"env: [API_URL, _x1]", "Env"},
		{"network: false", "Network"},
		{"isolation: required", "Isolation"},
		{"agent: command\nagent-command: sh a.sh\nmodel: gpt", "Agent AgentCommand Model"},
		{"agents: [claude, codex]\ncandidates: 2", "Agents Candidates"},
		{"agents: [claude, {agent: codex, model: gpt-5}]\nmodel: m", "Agents Model"},
		{
			"agents:\n  - agent: models\n    model: openai/gpt-4.1\n  - tuner", "Agents",
		},
		{"strategy: test-driven", "Strategy"},
		{
			"budget: {iterations: 20, tokens: 1000000, usd: 5.5, minutes: 60, per: week}", "Budgets",
		},
		{"budget:\n  usd: 3\n  per: day", "Budgets"},
		{
			"budget: [{usd: 1, per: iteration}, {iterations: 9, per: program}]", "Budgets",
		},
		{"unknown-cost: pause", "UnknownCost"},
		{"ci-gate: required\nci-workflow: ci.yml", "CIGate CIWorkflow"},
		{"ci-wait: 0\nci-timeout: 2h", "CIWait CITimeout"},
		{"comments: all", "Comments"},
		{
			"pull-request: {title: \"{type}: {summary}\", labels: [a, b], reviewers: [x, o/t], " +
				"assignees: [y], when-ready: continue}",
			"PullRequest.Title PullRequest.Type PullRequest.Labels " +
				"PullRequest.Reviewers PullRequest.Assignees PullRequest.WhenReady",
		},
		{"trusted-associations: [owner, CONTRIBUTOR]", "TrustedAssociations"},
	} {
		for _, text := range []string{c.text, swapDashes(c.text)} {
			t.Run(text, func(t *testing.T) {
				p := parse(front(text))
				require.NoError(t, p.Err())
				assert.Empty(t, messages(p.Warnings()))
				golden.Line(t, fields(p, c.names))
			})
		}
	}
	assert.Equal(t, []int{5, 50, 7, 0}, []int{
		parse("").PlateauFor("claude"), parse("").PlateauFor("tuner"), parse(front("plateau: 7")).PlateauFor("tuner"),
		parse(front("plateau: off")).PlateauFor("tuner"),
	})
}

// swapDashes writes every key with `_` for `-`.
func swapDashes(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if key, rest, ok := strings.Cut(line, ":"); ok {
			lines[i] = strings.ReplaceAll(strings.TrimPrefix(key, "- "), "-", "_") + ":" + rest
			if strings.HasPrefix(strings.TrimSpace(key), "- ") {
				lines[i] = line
			}
		}
	}
	return strings.Join(lines, "\n")
}

func texts(patterns []program.Pattern) []string {
	var list []string
	for _, pattern := range patterns {
		list = append(list, pattern.Text)
	}
	return list
}

func TestKeyErrors(t *testing.T) {
	for _, text := range lines(t, `schedule:
schedule: ''
schedule: [daily]
schedule: {every: 6h}
schedule: sometimes
metric_direction:
metric_direction: ''
metric_direction: null
metric_direction: # lower
metric_direction: down
metric_direction: lower is better
metric_direction: true
metric_direction: [lower]
target-metric:
target-metric: nan
target-metric: .nan
target-metric: inf
target-metric: -Infinity
target-metric: .inf
target-metric: 85%
target-metric: 1e999
target-metric: 0x10
target-metric: 1_000
target-metric: 1,5
target-metric: fast
target-metric: [1]
metric:
metric-range: 5
metric-range: [1]
metric-range: [1, 2, 3]
metric-range: [2, 1]
metric-range: [1, 1]
metric-range: [0, 100%]
metric-range: [0, ]
guardrails: lag
guardrails: []
guardrails: [lag]
guardrails: {metric: lag}
guardrails: [{direction: lower}]
guardrails: [{metric: a, direction: up}]
guardrails: [{metric: a, max-regression: x}]
guardrails: [{metric: a, max-regression: -1}]
guardrails: [{metric: a, max-regression: 1, max_regression: 2}]
evaluation: command
evaluation: skill
evaluation: tasks
skill: s\nmetric_direction: lower
skill: ../s
skill: /s
tasks: []
evaluation-runs: many
evaluation-runs: 0
evaluation-runs: 2.5
evaluation-runs: 3
evaluation-runs: 4\nconfidence: 0.99
min-improvement: -1
min-improvement: much
confidence: 95%
confidence: 95
confidence: 1
min-composite-gain: -0.1
cost-tolerance: some
net-loss-is-regression: maybe
judge: human
plateau: 0
plateau: never
plateau:
stop-after-reverts: -1
timeout-minutes: 45m
timeout-minutes: 0
timeout-minutes: 99999999
evaluation-timeout: 10
evaluation-timeout: 0
evaluation-timeout: -5m
evaluation-timeout: 1 year
evaluation-timeout: 99999999999999999999h
jobs: 0
candidates: 100
setup: [npm ci]
share: node_modules
share: [/etc]
share: [a/../../b]
env: API_URL
env: [A=b]
env: [GITHUB_TOKEN]
env: [HOME]
env: [git_dir]
env: {A: b}
env: [[A]]
env:
network: sometimes
isolation: on
target: src/a.go
target: [../a.go]
target: ['!a.go']
target: ['src/[a']
target: ['src\\a.go']
protect: [1, {a: b}]
agent: [tuner]
agent: cluade
agents: [{agent: cluade, model: m}]
agents: claude
agents: {agent: claude}
agents: []
agents: [claude, [codex]]
agents: [claude, '']
agents: [{model: gpt-5}]
agents: [{agent: codex, model: [a]}]
agents: [{agent: codex, model: }]
agents: [{agent: codex, agent: claude}]
strategy: luck
budget: 5
budget: {}
budget: {per: day}
budget: {usd: 0, per: day}
budget: {usd: -1, per: day}
budget: {iterations: 1.5, per: day}
budget: {tokens: lots, per: day}
budget: {usd: 1, per: year}
budget: {usd: 1, usd: 2, per: day}
budget: []
budget: [5]
budget: [{usd: 1, per: day}, {usd: 2, per: day}]
budget: {iterations: 3, per: iteration}
unknown-cost: ask
ci-gate: yes
ci-wait: soon
ci-timeout: 0
pull-request: perf
pull-request: {when-ready: maybe}
comments: none
trusted-associations: [friend]
trusted-associations: OWNER`) {
		p := parse("<!-- c -->\n---\n# one\n" + text + "\n---\n## Goal\n\nx\n")
		require.Len(t, p.Errors(), 1, messages(p.Problems))
		golden.Row(t, text, p.Errors()[0].String())
	}
}

// TestProblemsAreInOrder of their lines, wherever they were found first.
func TestProblemsAreInOrder(t *testing.T) {
	p := parse("---\nmetric_direction: up\nci-gate: yes\nconfidence: 2\n---\n## Target\n\n- `../x`\n")
	var lines []int
	for _, problem := range p.Problems {
		lines = append(lines, problem.Line)
	}
	assert.Greater(t, len(lines), 3)
	assert.IsIncreasing(t, lines, messages(p.Problems))
}

func TestErrorLineIsTheItems(t *testing.T) {
	p := parse(front("metric: x\ntarget:\n  - a/b.go\n  - ../c.go\nguardrails:\n  - metric: a\n    direction: up\n" +
		"agents:\n  - claude\n  - agent: codex\n    model: [a]"))
	require.Len(t, p.Errors(), 3)
	assert.Equal(t, 12, p.Errors()[2].Line)
	assert.Equal(t, 5, p.Errors()[0].Line)
	assert.Equal(t, 8, p.Errors()[1].Line)
}

func TestKeyWarnings(t *testing.T) {
	for _, text := range lines(t, `flavour: vanilla
agents: [{agent: claude, kind: m}]
tags: [fast]
budget: {usd: 1}
budget: {usd: 1, per: day, eur: 2}
guardrails: [{metric: a}]
guardrails: [{metric: a, direction: lower, x: 1}]
skill: s\ntasks: t
evals: e.json
target-metric: 2\nmetric-range: [0, 1]`) {
		p := parse(front(text))
		require.NoError(t, p.Err())
		golden.Row(t, text, messages(p.Warnings()))
	}
}

// TestMisspeltKeyIsError: what a misspelt key was to say would be lost without a word.
func TestMisspeltKeyIsError(t *testing.T) {
	for text, meant := range map[string]string{
		"shedule: daily":                             "schedule",
		"Schedule: daily":                            "schedule",
		"agnet: claude":                              "agent",
		"metricdirection: lower":                     "metric-direction",
		"metric_directon: lower":                     "metric-direction",
		"metric-direciton: lower":                    "metric-direction",
		"guardrails: [{metric: a, directon: lower}]": "direction",
		"budget: {usd: 1, per: day, tokns: 2}":       "tokens",
		"agents: [{agent: claude, modl: m}]":         "model",
		"pull-request: {label: [fast]}":              "labels",
	} {
		t.Run(text, func(t *testing.T) {
			p := parse(front(text))
			require.Len(t, p.Errors(), 1)
			assert.Contains(t, p.Errors()[0].Message, "did you mean `"+meant+"`?")
			assert.Equal(t, 2, p.Errors()[0].Line)
		})
	}
}

func TestIssueCannotSayWhomToTrust(t *testing.T) {
	p := program.ParseIssue(7, "Faster!", []byte(front("trusted-associations: [NONE]")))
	require.NoError(t, p.Err())
	assert.Equal(t, []string{"OWNER", "MEMBER", "COLLABORATOR"}, p.TrustedAssociations)
	golden.Row(t, "issue #7:2: trusted-associations in", p.Warnings()[0].String())
}

// lines are the texts of a block, one a line, each as it is between the quotes of Go.
func lines(t *testing.T, block string) (list []string) {
	t.Helper()
	for line := range strings.SplitSeq(block, "\n") {
		text, err := strconv.Unquote(`"` + line + `"`)
		require.NoError(t, err, line)
		list = append(list, text)
	}
	return list
}
