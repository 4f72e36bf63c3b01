package program

import (
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/loop/strategy"
)

// Key describes one key of the frontmatter. Texts are markdown of one line.
type Key struct {
	// Name is the usual spelling; `-` and `_` are the same.
	Name string `json:"name"`
	// Group is the heading under which the documentation lists the key.
	Group string `json:"group"`
	// Type is what kind of value it takes.
	Type string `json:"type"`
	// Default is what holds without the key.
	Default string `json:"default"`
	Help    string `json:"help"`

	// set puts its value into a program; the error says what is accepted.
	set func(value) error
}

// Keys returns the keys of the frontmatter in the order of the documentation.
func Keys() []Key { return new(Program).keys() }

// part is the key as one of a mapping.
func (k Key) part() part { return part{normalKey(k.Name), k.set} }

// ChangesNumber reports whether the key's value changes what a measured number
// means, so that numbers measured under another value cannot be compared: whether it
// is part of Meaning, which a test holds.
func (k Key) ChangesNumber() bool {
	return slices.Contains([]string{
		"metric", "metric_direction", "metric-range", "guardrails", "evaluation", "skill", "evals", "tasks",
		"min-composite-gain", "regression-composite-drop", "objective-drop-is-regression",
		"net-loss-is-regression", "cost-tolerance", "judge", "judge-model", "setup", "start", "pass-config",
		"agent-command", "executor", "executor-command",
	}, k.Name)
}

// keys are all keys, with where their values go in this program. There is no second
// list: reference page, `iterate validate --keys` and suggestions for a misspelt key
// come from here.
func (p *Program) keys() []Key {
	return []Key{
		{
			"schedule", "When", "schedule", "due at every tick",
			"when it is due, as `every 6h` ([forms](../howto/write-a-program.md#frontmatter))",
			into(&p.Schedule, then(word(scheduleForms), ParseSchedule)),
		},
		{
			"plateau", "When", "count or off", "5; 3 for skills; 50 for `agent: tuner` and `strategy: openevolve`",
			"rejections in a row that pause the program, or `off`",
			into(&p.Plateau, countOr("off", 10_000)),
		},
		{
			"stop-after-reverts", "When", "count or off", "`off`; 3 for skills",
			"reverts in a row that end one run of `iterate -n`, or `off`",
			into(&p.StopAfterReverts, countOr("off", 10_000)),
		},
		{
			"budget", "When", "map or list of maps", "none; without `per` a month, with a warning",
			"`{iterations: 20, tokens: 1000000, usd: 5, minutes: 60, per: day}`, any of them, or a list of such; " +
				"`per` is `iteration`, `day`, `week`, `month` or `program`",
			into(&p.Budgets, p.budgets),
		},
		{
			"unknown-cost", "When", "word", "`allow`",
			"what a budget of tokens or money does when a cost is unknown: `allow` or `pause`",
			into(&p.UnknownCost, oneOf("allow", "pause")),
		},
		{
			"metric", "What is measured", "text", "the text's \"The metric is `x`\", else the only number",
			"key of the metric in the evaluation's JSON; dots for nesting",
			into(&p.Metric, word("give the key of a number in the evaluation's JSON, such as `score`")),
		},
		{
			"metric_direction", "What is measured", "word", "`higher`",
			"`higher` or `lower`: which is better",
			p.setDirection,
		},
		{
			"target-metric", "What is measured", "number", "open-ended; 1 for skills",
			"the program is completed when its best reaches it",
			into(&p.Target, some(value.number)),
		},
		{
			"metric-range", "What is measured", "two numbers", "none",
			"`[min, max]`; a value outside is not believed",
			into(&p.Range, some(value.bounds)),
		},
		{
			"guardrails", "What is measured", "list of maps", "none",
			"as `[{metric: lag, direction: lower, max-regression: 5%}]`: other numbers of the JSON, which may not " +
				"get worse than at the start by more than that (0 when not given)",
			into(&p.Guardrails, listOf(guardrailForm, p.guardrail)),
		},
		{
			"min-improvement", "What is measured", "amount", "0",
			"the smallest gain worth keeping, as `0.01` or `0.5%`",
			into(&p.MinImprovement, value.allowance),
		},
		{
			"evaluation", "What is measured", "word", "`skill` or `tasks` where that key is given, else `metric`",
			"`metric`, `skill` or `tasks`",
			into(&p.Evaluation, oneOf(Metric, Skill, Tasks)),
		},
		{
			"evaluation-runs", "What is measured", "count or auto", "`auto`; 1 for skills",
			"how often candidate and best so far are measured; 1 is a plain comparison",
			into(&p.Runs, countOr("auto", 1000)),
		},
		{
			"confidence", "What is measured", "number", "0.95",
			"of repeated runs, from 0.5 to below 1",
			into(&p.Confidence, value.confidence),
		},
		{
			"skill", "What is measured", "path", "none",
			"directory of the skill ([how it gets better](../explain/skills.md))",
			into(&p.Skill, inside()),
		},
		{
			"evals", "What is measured", "path", "`evals/evals.json` in the skill",
			"its eval suite ([format](../reference/skill-suites.md)); no candidate may change it",
			into(&p.Evals, inside()),
		},
		{
			"tasks", "What is measured", "path", "none",
			"directory of the task suite",
			into(&p.Tasks, inside()),
		},
		{
			"no-case-regression", "What is measured", "yes or no", "`false`",
			"a skill may not lose a case that passed",
			into(&p.NoCaseRegression, value.truth),
		},
		{
			"min-composite-gain", "What is measured", "number", "0.01",
			"what a task suite must gain",
			into(&p.Thresholds.MinCompositeGain, value.amount),
		},
		{
			"regression-composite-drop", "What is measured", "number", "0.05",
			"a drop of one task beyond this is a regression",
			into(&p.Thresholds.RegressionCompositeDrop, value.amount),
		},
		{
			"objective-drop-is-regression", "What is measured", "yes or no", "`true`",
			"fewer checks passed is a regression",
			into(&p.Thresholds.ObjectiveDropIsRegression, value.truth),
		},
		{
			"net-loss-is-regression", "What is measured", "yes or no", "`false`",
			"a loss of the whole suite is a regression",
			into(&p.Thresholds.NetLossIsRegression, value.truth),
		},
		{
			"cost-tolerance", "What is measured", "number", "0",
			"a cost within this part of the reference counts as equal",
			into(&p.Thresholds.CostTolerance, value.amount),
		},
		{
			"judge", "What is measured", "word", "`auto`",
			"who judges: `auto`, `api`, `cli`, `off`",
			into(&p.Judge, oneOf("auto", "api", "cli", "off")),
		},
		{
			"judge-model", "What is measured", "text", "none",
			"the model that judges",
			into(&p.JudgeModel, word("give the name of a model")),
		},
		{
			"target", "What may change", "list of globs", "the section",
			"what may change, instead of the Target section",
			into(&p.Targets, words("src/*.go, docs/", given(newPattern))),
		},
		{
			"protect", "What may change", "list of globs", "none",
			"what may not change, besides what the section says",
			into(&p.Protected, words("src/*.go, docs/", given(newProtection))),
		},
		{
			"setup", "How it runs", "command", "none",
			"runs once in a fresh tree before the evaluation",
			into(&p.Setup, word("give a command")),
		},
		{
			"start", "How it runs", "command", "none",
			"starts the server that a skill's cases ask, in the skill's directory; it listens on `$PORT`",
			into(&p.Start, word("give a command")),
		},
		{
			"share", "How it runs", "list of paths", "none",
			"ignored paths, such as `node_modules`, that are copied from your checkout into the tree",
			into(&p.Share, words("node_modules, .venv", inside())),
		},
		{
			"env", "How it runs", "list of names", "none",
			"variables that agent and evaluation may see; never a GitHub token",
			into(&p.Env, words("API_URL, CACHE_DIR", value.variable)),
		},
		{
			"pass-config", "How it runs", "list of words", "none",
			"tools, such as `pip`, whose [configuration](../reference/environment.md#pass-config) in your home the " +
				"evaluation is given",
			into(&p.PassConfig, words("pip, npm", value.tool)),
		},
		{
			"timeout-minutes", "How it runs", "number", "45",
			"for one iteration",
			into(&p.Timeout, value.minutes),
		},
		{
			"evaluation-timeout", "How it runs", "time",
			"`10m`; for a candidate ten times as long as the unchanged files took, at least `60s`",
			"for one run of the evaluation, as `90s` or `1h30m`",
			into(&p.EvaluationTimeout, duration(time.Second)),
		},
		{
			"jobs", "How it runs", "count", "2",
			"eval cases or tasks at the same time, up to 256",
			into(&p.Jobs, count(256, "")),
		},
		{
			"network", "How it runs", "yes or no", "`true`",
			"whether the evaluation may use it; `false` needs [isolation](../explain/isolation.md)",
			into(&p.Network, value.truth),
		},
		{
			"isolation", "How it runs", "word", "`auto`",
			"whether commands are [kept apart](../explain/isolation.md#settings) from the machine: `auto`, " +
				"`required` or `off`",
			into(&p.Isolation, oneOf("auto", "required", "off")),
		},
		{
			"agent", "Who proposes", "word", "what the run finds, as `iterate doctor` says",
			"who proposes changes: `command`, `tuner`, [`models`](../howto/models.md) or [another coding " +
				"agent](../howto/agents.md)",
			into(&p.Agent, agentName()),
		},
		{
			"agents", "Who proposes", "list", "none",
			"several that take turns, as `[claude, {agent: codex, model: gpt-5}]`",
			into(&p.Agents, listOf(agentsForm, p.proposer)),
		},
		{
			"model", "Who proposes", "text", "the agent's own",
			"the model of the agent, and of each of `agents` that names none",
			into(&p.Model, word("give the name of a model")),
		},
		{
			"agent-command", "Who proposes", "command", "none",
			"the command of `agent: command`",
			into(&p.AgentCommand, word("give a command")),
		},
		{
			"executor", "Who proposes", "word", "`command` with an `executor-command`, else the agent",
			"who works on the tasks or cases of a suite",
			into(&p.Executor, word("give the name of an agent")),
		},
		{
			"executor-command", "Who proposes", "command", "none",
			"the command of `executor: command`; files that it names are the checkout's, but for [those under " +
				"test](../reference/task-suites.md#in-the-loop)",
			into(&p.ExecutorCommand, word("give a command")),
		},
		{
			"candidates", "Who proposes", "count", "1, or one for each of `agents`",
			"proposals for one iteration, up to 64; the best is kept",
			into(&p.Candidates, count(64, "")),
		},
		{
			"strategy", "Who proposes", "word", "none",
			"`" + strings.Join(strategy.All().Names(), "` or `") + "`",
			into(&p.Strategy, oneOf(strategy.All().Names()...)),
		},
		{
			"ci-gate", "On GitHub", "word", "`auto`",
			"`auto`, `required` or `off`",
			into(&p.CIGate, oneOf("auto", "required", "off")),
		},
		{
			"ci-wait", "On GitHub", "time", "`10m`",
			"how long a run waits for CI; 0 for not at all",
			into(&p.CIWait, duration(0)),
		},
		{
			"ci-timeout", "On GitHub", "time", "`60m`",
			"when CI that never answers pauses the program",
			into(&p.CITimeout, duration(time.Second)),
		},
		{
			"ci-workflow", "On GitHub", "text", "none",
			"a workflow to start for a pushed commit",
			into(&p.CIWorkflow, word("give the file name of a workflow")),
		},
		{
			"trusted-associations", "On GitHub", "list of words", "`[OWNER, MEMBER, COLLABORATOR]`",
			"who may steer the program; ignored in an issue",
			p.setAssociations,
		},
		{
			"comments", "On GitHub", "word", "`accepted`",
			"`accepted` comments on what was kept and when the program stops, `all` on every iteration",
			into(&p.Comments, oneOf("accepted", "all")),
		},
		{
			"pull-request", "On GitHub", "map", "none",
			"`{title: \"{type}({scope}): {summary}\", type: perf, labels: [l], reviewers: [login, org/team], " +
				"assignees: [login], when-ready: stop}`, any of them; " +
				"`when-ready: continue` commits also while it is ready for review",
			p.setPullRequest,
		},
	}
}
