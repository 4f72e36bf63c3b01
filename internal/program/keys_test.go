package program_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
)

func front(lines string) string { return "---\n" + lines + "\n---\n" }

func TestDefaults(t *testing.T) {
	p := parse("# Nothing said\n")
	assert.Equal(t, program.Schedule{}, p.Schedule)
	assert.Equal(t, metric.Higher, p.Direction)
	assert.Nil(t, p.Target)
	assert.Empty(t, p.Metric)
	assert.Nil(t, p.Range)
	assert.Empty(t, p.Guardrails)
	assert.Equal(t, program.Metric, p.Evaluation)
	assert.Zero(t, p.Runs)
	assert.Zero(t, p.MinImprovement.Value.Sign())
	assert.InDelta(t, 0.95, p.Confidence, 0)
	assert.Equal(t, program.Thresholds{
		MinCompositeGain: 0.01, RegressionCompositeDrop: 0.05,
		ObjectiveDropIsRegression: true,
	}, p.Thresholds)
	assert.False(t, p.NoCaseRegression)
	assert.Equal(t, "auto", p.Judge)
	assert.Equal(t, 5, p.Plateau)
	assert.Equal(t, 5, p.PlateauFor("claude"))
	assert.Equal(t, 50, p.PlateauFor("tuner"))
	assert.Zero(t, p.StopAfterReverts)
	assert.Equal(t, 45*time.Minute, p.Timeout)
	assert.Equal(t, 10*time.Minute, p.EvaluationTimeout)
	assert.Equal(t, 2, p.Jobs)
	assert.True(t, p.Network)
	assert.Equal(t, "auto", p.Isolation)
	assert.Equal(t, 1, p.Candidates)
	assert.Empty(t, p.Budgets)
	assert.Equal(t, "allow", p.UnknownCost)
	assert.Equal(t, "auto", p.CIGate)
	assert.Equal(t, 10*time.Minute, p.CIWait)
	assert.Equal(t, time.Hour, p.CITimeout)
	assert.Empty(t, p.CIWorkflow)
	assert.Equal(t, []string{"OWNER", "MEMBER", "COLLABORATOR"}, p.TrustedAssociations)
}

func TestEveryKey(t *testing.T) {
	amount := func(text string, percent bool) program.Allowance {
		return program.Allowance{Value: metric.MustValue(text), Percent: percent}
	}
	for _, c := range []struct {
		text string
		got  func(p *program.Program) any
		want any
	}{
		{"schedule: every 6h", func(p *program.Program) any { return p.Schedule.Text }, "every 6h"},
		{"metric_direction: LOWER", func(p *program.Program) any { return p.Direction }, metric.Lower},
		{"target-metric: 0.95", func(p *program.Program) any { return p.Target.String() }, "0.95"},
		{"target-metric: -1.5186", func(p *program.Program) any { return p.Target.String() }, "-1.5186"},
		{"target-metric: '1e-7'", func(p *program.Program) any { return p.Target.String() }, "1e-7"},
		{"metric: a.b_c", func(p *program.Program) any { return p.Metric }, "a.b_c"},
		{"metric-range: [-1, 1.5]", func(p *program.Program) any {
			return p.Range.Min.String() + " " +
				p.Range.Max.String()
		}, "-1 1.5"},
		{"metric-range:\n- 0\n- 1", func(p *program.Program) any { return p.Range.Max.String() }, "1"},
		{
			"guardrails: [{metric: lag, direction: lower, max-regression: 5%}]",
			func(p *program.Program) any { return p.Guardrails },
			[]program.Guardrail{{"lag", metric.Lower, amount("5", true)}},
		},
		{
			"guardrails:\n  - metric: lag\n    direction: Higher\n    max_regression: 0.1\n  - metric: size\n" +
				"    direction: lower", func(p *program.Program) any { return p.Guardrails },
			[]program.Guardrail{
				{"lag", metric.Higher, amount("0.1", false)},
				{"size", metric.Lower, program.Allowance{}},
			},
		},
		{"evaluation: Metric", func(p *program.Program) any { return p.Evaluation }, program.Metric},
		{"skill: skills/pdf/", func(p *program.Program) any {
			return []any{
				p.Evaluation, p.Skill, p.Evals, p.Runs,
				p.StopAfterReverts,
			}
		}, []any{program.Skill, "skills/pdf", "skills/pdf/evals/evals.json", 1, 3}},
		{
			"skill: s\nevals: e/evals.json\nevaluation-runs: 3\nstop-after-reverts: off",
			func(p *program.Program) any { return []any{p.Evals, p.Runs, p.StopAfterReverts} },
			[]any{"e/evals.json", 3, 0},
		},
		{
			"tasks: ./suite", func(p *program.Program) any { return []any{p.Evaluation, p.Tasks, p.Runs} },
			[]any{program.Tasks, "suite", 0},
		},
		{
			"tasks: suite\nskill: s\nevaluation: tasks", func(p *program.Program) any { return p.Evaluation },
			program.Tasks,
		},
		{"evaluation-runs: Auto", func(p *program.Program) any { return p.Runs }, 0},
		{"evaluation-runs: 1", func(p *program.Program) any { return p.Runs }, 1},
		{"evaluation-runs: 4", func(p *program.Program) any { return p.Runs }, 4},
		{"min-improvement: 0.5%", func(p *program.Program) any { return p.MinImprovement }, amount("0.5", true)},
		{"min_improvement: 0.01", func(p *program.Program) any { return p.MinImprovement }, amount("0.01", false)},
		{"confidence: 0.99", func(p *program.Program) any { return p.Confidence }, 0.99},
		{
			"min-composite-gain: 0.02\nregression-composite-drop: 0.1\nobjective-drop-is-regression: false\n" +
				"net-loss-is-regression: true\ncost-tolerance: 0.05",
			func(p *program.Program) any { return p.Thresholds },
			program.Thresholds{0.02, 0.1, 0.05, false, true},
		},
		{"no-case-regression: yes", func(p *program.Program) any { return p.NoCaseRegression }, true},
		{"judge: off\njudge-model: m", func(p *program.Program) any { return p.Judge + p.JudgeModel }, "offm"},
		{"plateau: off", func(p *program.Program) any {
			return []any{
				p.Plateau, p.PlateauGiven,
				p.PlateauFor("tuner"),
			}
		}, []any{0, true, 0}},
		{"plateau: 7", func(p *program.Program) any { return []any{p.Plateau, p.PlateauFor("tuner")} }, []any{7, 7}},
		{"agent: tuner", func(p *program.Program) any { return p.Plateau }, 50},
		{"strategy: openevolve", func(p *program.Program) any { return p.Plateau }, 50},
		{"stop-after-reverts: 4", func(p *program.Program) any { return p.StopAfterReverts }, 4},
		{"timeout-minutes: 1.5", func(p *program.Program) any { return p.Timeout }, 90 * time.Second},
		{"evaluation-timeout: 1h30m", func(p *program.Program) any { return p.EvaluationTimeout }, 90 * time.Minute},
		{
			"evaluation-timeout: 90 seconds", func(p *program.Program) any { return p.EvaluationTimeout },
			90 * time.Second,
		},
		{"jobs: 8", func(p *program.Program) any { return p.Jobs }, 8},
		{"setup: npm ci", func(p *program.Program) any { return p.Setup }, "npm ci"},
		{"setup: |\n  npm ci\n  make: x", func(p *program.Program) any { return p.Setup }, "npm ci\nmake: x"},
		{
			"share: [node_modules, ./.venv/]", func(p *program.Program) any { return p.Share },
			[]string{"node_modules", ".venv"},
		},
		{"env: [API_URL, _x1]", func(p *program.Program) any { return p.Env }, []string{"API_URL", "_x1"}},
		{"network: false", func(p *program.Program) any { return p.Network }, false},
		{"isolation: required", func(p *program.Program) any { return p.Isolation }, "required"},
		{
			"agent: command\nagent-command: sh a.sh\nmodel: gpt",
			func(p *program.Program) any { return p.Agent + p.AgentCommand + p.Model }, "commandsh a.shgpt",
		},
		{
			"agents: [claude, codex]\ncandidates: 2",
			func(p *program.Program) any { return []any{p.Agents, p.Candidates} },
			[]any{[]program.Proposer{{Agent: "claude"}, {Agent: "codex"}}, 2},
		},
		{
			"agents: [claude, {agent: codex, model: gpt-5}]\nmodel: m",
			func(p *program.Program) any { return []any{p.Agents, p.Model} },
			[]any{[]program.Proposer{{Agent: "claude"}, {"codex", "gpt-5"}}, "m"},
		},
		{
			"agents:\n  - agent: models\n    model: openai/gpt-4.1\n  - tuner",
			func(p *program.Program) any { return p.Agents },
			[]program.Proposer{{"models", "openai/gpt-4.1"}, {Agent: "tuner"}},
		},
		{"strategy: test-driven", func(p *program.Program) any { return p.Strategy }, "test-driven"},
		{
			"budget: {iterations: 20, tokens: 1000000, usd: 5.5, minutes: 60, per: week}",
			func(p *program.Program) any { return p.Budgets },
			[]program.Budget{{20, 1000000, 5.5, 60, "week"}},
		},
		{
			"budget:\n  usd: 3\n  per: day", func(p *program.Program) any { return p.Budgets },
			[]program.Budget{{USD: 3, Per: "day"}},
		},
		{
			"budget: [{usd: 1, per: iteration}, {iterations: 9, per: program}]",
			func(p *program.Program) any { return p.Budgets },
			[]program.Budget{{USD: 1, Per: "iteration"}, {Iterations: 9, Per: "program"}},
		},
		{"unknown-cost: pause", func(p *program.Program) any { return p.UnknownCost }, "pause"},
		{
			"ci-gate: required\nci-workflow: ci.yml", func(p *program.Program) any { return p.CIGate + p.CIWorkflow },
			"requiredci.yml",
		},
		{
			"ci-wait: 0\nci-timeout: 2h", func(p *program.Program) any {
				return []time.Duration{
					p.CIWait,
					p.CITimeout,
				}
			},
			[]time.Duration{0, 2 * time.Hour},
		},
		{"comments: all", func(p *program.Program) any { return p.Comments }, "all"},
		{
			"pull-request: {title: \"{type}: {summary}\", labels: [a, b], reviewers: [x, o/t], assignees: [y], " +
				"when-ready: continue}",
			func(p *program.Program) any { return p.PullRequest },
			program.PullRequest{
				Title: "{type}: {summary}", Type: "perf", Labels: []string{"a", "b"},
				Reviewers: []string{"x", "o/t"}, Assignees: []string{"y"}, WhenReady: "continue",
			},
		},
		{
			"trusted-associations: [owner, CONTRIBUTOR]", func(p *program.Program) any { return p.TrustedAssociations },
			[]string{"OWNER", "CONTRIBUTOR"},
		},
		{
			"target: [src/*.go, Makefile, docs/]\nprotect: [src/eval.go]",
			func(p *program.Program) any { return append(texts(p.Targets), texts(p.Protected)...) },
			[]string{"src/*.go", "Makefile", "docs/", "src/eval.go"},
		},
	} {
		for _, text := range []string{c.text, swapDashes(c.text)} {
			t.Run(text, func(t *testing.T) {
				p := parse(front(text))
				require.NoError(t, p.Err())
				assert.Empty(t, messages(p.Warnings()))
				assert.Equal(t, c.want, c.got(p))
			})
		}
	}
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
		"schedule:":                                     "it has no value; accepted are `every 6h`",
		"schedule: ''":                                  "it has no value; accepted are `every 6h`",
		"schedule: [daily]":                             "it is a list; accepted are `every 6h`",
		"schedule: {every: 6h}":                         "it is a mapping; accepted are",
		"schedule: sometimes":                           `"sometimes" is no schedule; accepted are`,
		"metric_direction:":                             "it has no value; accepted are `higher`, `lower`",
		"metric_direction: ''":                          "it has no value; accepted are `higher`, `lower`",
		"metric_direction: null":                        "it has no value; accepted are `higher`, `lower`",
		"metric_direction: # lower":                     "it has no value; accepted are `higher`, `lower`",
		"metric_direction: down":                        "\"down\" is not accepted; accepted are `higher`, `lower`",
		"metric_direction: lower is better":             "accepted are `higher`, `lower`",
		"metric_direction: true":                        "accepted are `higher`, `lower`",
		"metric_direction: [lower]":                     "it is a list; accepted are `higher`, `lower`",
		"target-metric:":                                "it has no value; give a plain number",
		"target-metric: nan":                            "not a finite number",
		"target-metric: .nan":                           "not a number",
		"target-metric: inf":                            "not a finite number",
		"target-metric: -Infinity":                      "not a finite number",
		"target-metric: .inf":                           "not a number",
		"target-metric: 85%":                            `"85%" is not a number; give a plain number such as 0.95`,
		"target-metric: 1e999":                          "out of range",
		"target-metric: 0x10":                           "not a number",
		"target-metric: 1_000":                          "not a number",
		"target-metric: 1,5":                            "not a number",
		"target-metric: fast":                           "not a number",
		"target-metric: [1]":                            "it is a list; give a plain number",
		"metric:":                                       "it has no value; give the key of a number",
		"metric-range: 5":                               "give two numbers, the smaller first, as in `[0, 100]`",
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
		"guardrails: [{metric: a, max-regression: x}]":  "`max-regression`: \"x\" is no amount of 0 or more",
		"guardrails: [{metric: a, max-regression: -1}]": "no amount of 0 or more",
		"guardrails: [{metric: a, max-regression: 1, max_regression: 2}]": "given twice",
		"evaluation: command":                  "accepted are `metric`, `skill`, `tasks`",
		"evaluation: skill":                    "add a line `skill:",
		"evaluation: tasks":                    "add a line `tasks:",
		"skill: s\nmetric_direction: lower":    "always `higher`",
		"skill: ../s":                          "no path within the repository",
		"skill: /s":                            "no path within the repository",
		"tasks: []":                            "it is a list; give a path",
		"evaluation-runs: many":                "give a whole number from 1 to 1000, or `auto`",
		"evaluation-runs: 0":                   "give a whole number from 1 to 1000, or `auto`",
		"evaluation-runs: 2.5":                 "give a whole number from 1 to 1000, or `auto`",
		"evaluation-runs: 3":                   "3 runs can never reach a confidence of 0.95; give 4 or more",
		"evaluation-runs: 4\nconfidence: 0.99": "give 5 or more",
		"min-improvement: -1": "no amount of 0 or more; accepted are amounts such as `0.01` " +
			"and `5%`",
		"min-improvement: much":                     "no amount of 0 or more",
		"confidence: 95%":                           "not a number",
		"confidence: 95":                            "from 0.5 to below 1",
		"confidence: 1":                             "from 0.5 to below 1",
		"min-composite-gain: -0.1":                  "below 0",
		"cost-tolerance: some":                      "not a number",
		"net-loss-is-regression: maybe":             "accepted are `true`, `false`",
		"judge: human":                              "accepted are `auto`, `api`, `cli`, `off`",
		"plateau: 0":                                "give a whole number from 1 to 10000, or `off`",
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
		"share: node_modules":                       "\"node_modules\" is no list; give one, as in `[node_modules]`",
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
		"target: src/a.go":                          "is no list; give one, as in `[src/a.go]`",
		"target: [../a.go]":                         "leaves the repository",
		"target: ['!a.go']":                         "no pattern",
		"target: ['src/[a']":                        "no valid glob",
		"target: ['src\\a.go']":                     "no pattern",
		"protect: [1, {a: b}]":                      "it is a mapping",
		"agent: [tuner]":                            "give the name of an agent",
		"agent: cluade":                             "`cluade` is no agent known here; known are command, ",
		"agents: [{agent: cluade, model: m}]":       "`cluade` is no agent known here",
		"agents: claude": "give a list of agents, as in `[claude, {agent: codex, model: " +
			"gpt-5}]`",
		"agents: {agent: claude}":                 "give a list of agents",
		"agents: []":                              "give a list of agents",
		"agents: [claude, [codex]]":               "give a list of agents",
		"agents: [claude, '']":                    "it has no value; give the name of an agent",
		"agents: [{model: gpt-5}]":                "it names no `agent`; give a list",
		"agents: [{agent: codex, model: [a]}]":    "`model`: it is a list; give the name of a model",
		"agents: [{agent: codex, model: }]":       "`model`: it has no value",
		"agents: [{agent: codex, agent: claude}]": "`agent` is given twice",
		"strategy: luck":                          "`openevolve`, `test-driven`",
		"budget: 5":                               "give `{iterations: 20",
		"budget: {}":                              "give `{iterations: 20",
		"budget: {per: day}":                      "limits nothing",
		"budget: {usd: 0, per: day}":              "0 is no limit",
		"budget: {usd: -1, per: day}":             "below 0",
		"budget: {iterations: 1.5, per: day}":     "give a whole number",
		"budget: {tokens: lots, per: day}":        "give a whole number",
		"budget: {usd: 1, per: year}": "accepted are `day`, `week`, `month`, `iteration`, " +
			"`program`",
		"budget: {usd: 1, usd: 2, per: day}": "given twice",
		"budget: []":                         "give `{iterations: 20",
		"budget: [5]":                        "give `{iterations: 20",
		"budget: [{usd: 1, per: day}, {usd: 2, per: day}]": "two budgets per day",
		"budget: {iterations: 3, per: iteration}":          "`iterations` per iteration means nothing",
		"unknown-cost: ask":                                "accepted are `allow`, `pause`",
		"ci-gate: yes":                                     "accepted are `auto`, `required`, `off`",
		"ci-wait: soon":                                    "accepted are times",
		"ci-timeout: 0":                                    "accepted are times",
		"pull-request: perf":                               "give a map such as",
		"pull-request: {when-ready: maybe}":                "accepted are `stop`, `continue`",
		"comments: none":                                   "accepted are `accepted`, `all`",
		"trusted-associations: [friend]":                   `"FRIEND" is no association; accepted are OWNER`,
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
		"agents: [{agent: claude, kind: m}]":                "unknown key `kind` of an agent is ignored",
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

func TestAllErrorsAreReported(t *testing.T) {
	p := parse(front("schedule: never\nmetric_direction: up\ntarget-metric: x"))
	assert.Len(t, p.Errors(), 3)
	require.ErrorContains(t, p.Err(), file+":2: `schedule`:")
	assert.ErrorContains(t, p.Err(), file+":4: `target-metric`:")
}

func TestIssueCannotSayWhomToTrust(t *testing.T) {
	p := program.ParseIssue(7, "Faster!", []byte(front("trusted-associations: [NONE]")))
	require.NoError(t, p.Err())
	assert.Equal(t, []string{"OWNER", "MEMBER", "COLLABORATOR"}, p.TrustedAssociations)
	assert.Equal(t, "issue #7:2: `trusted-associations` in an issue is ignored: an issue cannot say who is trusted",
		p.Warnings()[0].String())
}
