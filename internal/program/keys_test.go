package program_test

import (
	"fmt"
	"reflect"
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
	for text, says := range map[string]string{
		"schedule:":                                     "has no value; accepted are `every 6h`",
		"schedule: ''":                                  "has no value; accepted are `every 6h`",
		"schedule: [daily]":                             "it is a list; accepted are `every 6h`",
		"schedule: {every: 6h}":                         "it is a mapping; accepted are",
		"schedule: sometimes":                           `"sometimes" is no schedule; accepted`,
		"metric_direction:":                             "value; accepted are `higher`, `lower`",
		"metric_direction: ''":                          "value; accepted are `higher`, `lower`",
		"metric_direction: null":                        "value; accepted are `higher`, `lower`",
		"metric_direction: # lower":                     "value; accepted are `higher`, `lower`",
		"metric_direction: down":                        "is not accepted; accepted are `higher`,",
		"metric_direction: lower is better":             "accepted are `higher`, `lower`",
		"metric_direction: true":                        "accepted are `higher`, `lower`",
		"metric_direction: [lower]":                     "a list; accepted are `higher`, `lower`",
		"target-metric:":                                "it has no value; give a plain number",
		"target-metric: nan":                            "not a finite number",
		"target-metric: .nan":                           "not a number",
		"target-metric: inf":                            "not a finite number",
		"target-metric: -Infinity":                      "not a finite number",
		"target-metric: .inf":                           "not a number",
		"target-metric: 85%":                            `"85%" is not a number; give a plain`,
		"target-metric: 1e999":                          "out of range",
		"target-metric: 0x10":                           "not a number",
		"target-metric: 1_000":                          "not a number",
		"target-metric: 1,5":                            "not a number",
		"target-metric: fast":                           "not a number",
		"target-metric: [1]":                            "it is a list; give a plain number",
		"metric:":                                       "has no value; give the key of a number",
		"metric-range: 5":                               "the smaller first, as in `[0, 100]`",
		"metric-range: [1]":                             "give two numbers",
		"metric-range: [1, 2, 3]":                       "give two numbers",
		"metric-range: [2, 1]":                          "2 is not below 1",
		"metric-range: [1, 1]":                          "1 is not below 1",
		"metric-range: [0, 100%]":                       "not a number",
		"metric-range: [0, ]":                           "give two numbers",
		"guardrails: lag":                               "give a list of `{metric: lag",
		"guardrails: []":                                "give a list of `{metric: lag",
		"guardrails: [lag]":                             "give a list of `{metric: lag",
		"guardrails: {metric: lag}":                     "give a list of `{metric: lag",
		"guardrails: [{direction: lower}]":              "a guardrail needs `metric`",
		"guardrails: [{metric: a, direction: up}]":      "`direction`: \"up\" is not accepted",
		"guardrails: [{metric: a, max-regression: x}]":  "`max-regression`: \"x\" is no amount of 0",
		"guardrails: [{metric: a, max-regression: -1}]": "no amount of 0 or more",
		"guardrails: [{metric: a, max-regression: 1, max_regression: 2}]": "given twice",
		"evaluation: command":                       "accepted are `metric`, `skill`, `tasks`",
		"evaluation: skill":                         "add a line `skill:",
		"evaluation: tasks":                         "add a line `tasks:",
		"skill: s\nmetric_direction: lower":         "always `higher`",
		"skill: ../s":                               "no path within the repository",
		"skill: /s":                                 "no path within the repository",
		"tasks: []":                                 "it is a list; give a path",
		"evaluation-runs: many":                     "whole number from 1 to 1000, or `auto`",
		"evaluation-runs: 0":                        "whole number from 1 to 1000, or `auto`",
		"evaluation-runs: 2.5":                      "whole number from 1 to 1000, or `auto`",
		"evaluation-runs: 3":                        "reach a confidence of 0.95; give 4 or",
		"evaluation-runs: 4\nconfidence: 0.99":      "give 5 or more",
		"min-improvement: -1":                       "are amounts such as `0.01` and `5%`",
		"min-improvement: much":                     "no amount of 0 or more",
		"confidence: 95%":                           "not a number",
		"confidence: 95":                            "from 0.5 to below 1",
		"confidence: 1":                             "from 0.5 to below 1",
		"min-composite-gain: -0.1":                  "below 0",
		"cost-tolerance: some":                      "not a number",
		"net-loss-is-regression: maybe":             "accepted are `true`, `false`",
		"judge: human":                              "are `auto`, `api`, `cli`, `off`",
		"plateau: 0":                                "whole number from 1 to 10000, or `off`",
		"plateau: never":                            "or `off`",
		"plateau:":                                  "it has no value",
		"stop-after-reverts: -1":                    "or `off`",
		"timeout-minutes: 45m":                      "not a number",
		"timeout-minutes: 0":                        "not between a second and 30 days",
		"timeout-minutes: 99999999":                 "not between a second and 30 days",
		"evaluation-timeout: 10":                    "accepted are times such as `90s`",
		"evaluation-timeout: 0":                     "accepted are times such as `90s`",
		"evaluation-timeout: -5m":                   "accepted are times such as `90s`",
		"evaluation-timeout: 1 year":                "accepted are times such as `90s`",
		"evaluation-timeout: 99999999999999999999h": "accepted are times such as `90s`",
		"jobs: 0":                                   "give a whole number from 1 to 256",
		"candidates: 100":                           "give a whole number from 1 to 64",
		"setup: [npm ci]":                           "it is a list; give a command",
		"share: node_modules":                       `"node_modules" is no list; give one, as`,
		"share: [/etc]":                             "no path within the repository",
		"share: [a/../../b]":                        "no path within the repository",
		"env: API_URL":                              "is no list; give one, as in `[API_URL]`",
		"env: [A=b]":                                "no name of a variable",
		"env: [GITHUB_TOKEN]":                       "never given to agents",
		"env: {A: b}":                               "give a list",
		"env: [[A]]":                                "it is a list",
		"env:":                                      "give a list",
		"network: sometimes":                        "accepted are `true`, `false`",
		"isolation: on":                             "accepted are `auto`, `required`, `off`",
		"target: src/a.go":                          "no list; give one, as in `[src/a.go]`",
		"target: [../a.go]":                         "leaves the repository",
		"target: ['!a.go']":                         "no pattern",
		"target: ['src/[a']":                        "no valid glob",
		"target: ['src\\a.go']":                     "no pattern",
		"protect: [1, {a: b}]":                      "it is a mapping",
		"agent: [tuner]":                            "give the name of an agent",
		"agent: cluade":                             "`cluade` is no agent known here; known",
		"agents: [{agent: cluade, model: m}]":       "`cluade` is no agent known here",
		"agents: claude":                            "list of agents, as in `[claude, {agent:",
		"agents: {agent: claude}":                   "give a list of agents",
		"agents: []":                                "give a list of agents",
		"agents: [claude, [codex]]":                 "give a list of agents",
		"agents: [claude, '']":                      "has no value; give the name of an agent",
		"agents: [{model: gpt-5}]":                  "it names no `agent`; give a list",
		"agents: [{agent: codex, model: [a]}]":      "`model`: it is a list; give the name of",
		"agents: [{agent: codex, model: }]":         "`model`: it has no value",
		"agents: [{agent: codex, agent: claude}]":   "`agent` is given twice",
		"strategy: luck":                            "`openevolve`, `test-driven`",
		"budget: 5":                                 "give `{iterations: 20",
		"budget: {}":                                "give `{iterations: 20",
		"budget: {per: day}":                        "limits nothing",
		"budget: {usd: 0, per: day}":                "0 is no limit",
		"budget: {usd: -1, per: day}":               "below 0",
		"budget: {iterations: 1.5, per: day}":       "give a whole number",
		"budget: {tokens: lots, per: day}":          "give a whole number",
		"budget: {usd: 1, per: year}":               "`week`, `month`, `iteration`, `program`",
		"budget: {usd: 1, usd: 2, per: day}":        "given twice",
		"budget: []":                                "give `{iterations: 20",
		"budget: [5]":                               "give `{iterations: 20",
		"budget: [{usd: 1, per: day}, {usd: 2, per: day}]": "two budgets per day",
		"budget: {iterations: 3, per: iteration}":          "`iterations` per iteration means nothing",
		"unknown-cost: ask":                                "accepted are `allow`, `pause`",
		"ci-gate: yes":                                     "accepted are `auto`, `required`, `off`",
		"ci-wait: soon":                                    "accepted are times",
		"ci-timeout: 0":                                    "accepted are times",
		"pull-request: perf":                               "give a map such as",
		"pull-request: {when-ready: maybe}":                "accepted are `stop`, `continue`",
		"comments: none":                                   "accepted are `accepted`, `all`",
		"trusted-associations: [friend]":                   `"FRIEND" is no association; accepted`,
		"trusted-associations: OWNER":                      "is no list",
	} {
		t.Run(text, func(t *testing.T) {
			p := parse("<!-- c -->\n---\n# one\n" + text + "\n---\n## Goal\n\nx\n")
			require.Len(t, p.Errors(), 1, messages(p.Problems))
			found := p.Errors()[0]
			assert.Contains(t, found.Message, says)
			key, _, _ := strings.Cut(text, ":")
			assert.Contains(t, found.String(), file+":")
			assert.GreaterOrEqual(t, found.Line, 4)
			assert.LessOrEqual(t, found.Line, 4+strings.Count(text, "\n"))
			assert.NotEmpty(t, key)
		})
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
	for text, says := range map[string]string{
		"flavour: vanilla":                                  "unknown key `flavour` is ignored",
		"agents: [{agent: claude, kind: m}]":                "unknown key `kind` of an agent is",
		"tags: [fast]":                                      "unknown key `tags` is ignored",
		"budget: {usd: 1}":                                  "has no `per`; `month` is taken",
		"budget: {usd: 1, per: day, eur: 2}":                "unknown key `eur`",
		"guardrails: [{metric: a}]":                         "has no `direction`; `higher` is taken",
		"guardrails: [{metric: a, direction: lower, x: 1}]": "unknown key `x`",
		"skill: s\ntasks: t":                                "`evaluation: skill` is taken",
		"evals: e.json":                                     "no effect without `skill`",
		"target-metric: 2\nmetric-range: [0, 1]":            "never be reached",
	} {
		t.Run(text, func(t *testing.T) {
			p := parse(front(text))
			require.NoError(t, p.Err())
			require.Len(t, p.Warnings(), 1)
			assert.Contains(t, p.Warnings()[0].Message, says)
			assert.Positive(t, p.Warnings()[0].Line)
		})
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
