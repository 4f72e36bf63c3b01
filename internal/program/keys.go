package program

import (
	"strings"
	"time"

	"github.com/org/autoloop/internal/loop/strategy"
)

// Key describes one key of the frontmatter. Texts are markdown of one line.
type Key struct {
	// Name is the usual spelling; `-` and `_` are the same.
	Name string
	// Group is the heading under which the documentation lists the key.
	Group string
	// Type is what kind of value it takes.
	Type string
	// Default is what holds without the key.
	Default string
	Help    string
}

// entry is a key with what it does.
type entry struct {
	Key

	set setter
	// means adds the value to what identifies a measurement. It is sameNumber
	// for a key that does not change what a measured number means.
	means func(*Program, *Meaning)
}

// setter puts one key's value into a program; the error says what is accepted.
type setter func(p *Program, v value) error

// Keys returns the keys of the frontmatter in the order of the documentation.
func Keys() []Key {
	list := make([]Key, len(entries))
	for i, e := range entries {
		list[i] = e.Key
	}
	return list
}

// ChangesNumber reports whether the key's value changes what a measured number
// means, so that numbers measured under another value cannot be compared.
func (k Key) ChangesNumber() bool { return entryOf[normalKey(k.Name)].means != nil }

// entryOf finds an entry by its name with dashes.
var entryOf = func() map[string]entry {
	index := make(map[string]entry, len(entries))
	for _, e := range entries {
		index[normalKey(e.Name)] = e
	}
	return index
}()

// entries are all keys. There is no second list: reference page, `scheduler
// keys`, suggestions for a misspelt key and the identity of a measurement come
// from here.
var entries = []entry{
	{
		Key{
			"schedule", "When", "schedule", "due at every tick",
			"when it is due, as `every 6h` ([forms](../howto/write-a-program.md#frontmatter))",
		},
		setSchedule, sameNumber,
	},
	{
		Key{
			"plateau", "When", "count or off", "5; 3 for skills; 50 for `agent: tuner` and `strategy: openevolve`",
			"rejections in a row that pause the program, or `off`",
		},
		setPlateau, sameNumber,
	},
	{
		Key{
			"stop-after-reverts", "When", "count or off", "`off`; 3 for skills",
			"reverts in a row that end one run of `iterate -n`, or `off`",
		},
		func(p *Program, v value) (err error) { p.StopAfterReverts, err = v.countOrOff(); return err }, sameNumber,
	},
	{
		Key{
			"budget", "When", "map or list of maps", "none; without `per` a month, with a warning",
			"`{iterations: 20, tokens: 1000000, usd: 5, minutes: 60, per: day}`, any of them, or a list of such; " +
				"`per` is `iteration`, `day`, `week`, `month` or `program`",
		},
		setBudgets, sameNumber,
	},
	{
		Key{
			"unknown-cost", "When", "word", "`allow`",
			"what a budget of tokens or money does when a cost is unknown: `allow` or `pause`",
		},
		choiceKey(func(p *Program) *string { return &p.UnknownCost }, "allow", "pause"), sameNumber,
	},
	{
		Key{
			"metric", "What is measured", "text", "the text's \"The metric is `x`\", else the only number",
			"key of the metric in the evaluation's JSON; dots for nesting",
		},
		textKey(func(p *Program) *string { return &p.Metric },
			"the key of a number in the evaluation's JSON, such as `score`"),
		func(p *Program, m *Meaning) { m.Metric = p.Metric },
	},
	{
		Key{
			"metric_direction", "What is measured", "word", "`higher`",
			"`higher` or `lower`: which is better",
		},
		setDirection, func(p *Program, m *Meaning) { m.Direction = p.Direction.String() },
	},
	{
		Key{
			"target-metric", "What is measured", "number", "open-ended; 1 for skills",
			"the program is completed when its best reaches it",
		},
		setTarget, sameNumber,
	},
	{
		Key{
			"metric-range", "What is measured", "two numbers", "none",
			"`[min, max]`; a value outside is not believed",
		},
		setRange, func(p *Program, m *Meaning) { m.Range = p.Range },
	},
	{
		Key{
			"guardrails", "What is measured", "list of maps", "none",
			"as `[{metric: lag, direction: lower, max-regression: 5%}]`: other numbers of the JSON, which may not " +
				"get worse than at the start by more than that (0 when not given)",
		},
		setGuardrails, func(p *Program, m *Meaning) { m.Guardrails = p.Guardrails },
	},
	{
		Key{
			"min-improvement", "What is measured", "amount", "0",
			"the smallest gain worth keeping, as `0.01` or `0.5%`",
		},
		func(p *Program, v value) (err error) { p.MinImprovement, err = v.allowance(); return err }, sameNumber,
	},
	{
		Key{
			"evaluation", "What is measured", "word", "`skill` or `tasks` where that key is given, else `metric`",
			"`metric`, `skill` or `tasks`",
		},
		setEvaluation, func(p *Program, m *Meaning) { m.Kind = string(p.Evaluation) },
	},
	{
		Key{
			"evaluation-runs", "What is measured", "count or auto", "`auto`; 1 for skills",
			"how often candidate and best so far are measured; 1 is a plain comparison",
		},
		setRuns, sameNumber,
	},
	{
		Key{
			"confidence", "What is measured", "number", "0.95",
			"of repeated runs, from 0.5 to below 1",
		},
		setConfidence, sameNumber,
	},
	{
		Key{
			"skill", "What is measured", "path", "none",
			"directory of the skill ([how it gets better](../explain/skills.md))",
		},
		pathKey(func(p *Program) *string { return &p.Skill }), suiteMeaning,
	},
	{
		Key{
			"evals", "What is measured", "path", "`evals/evals.json` in the skill",
			"its eval suite ([format](../reference/skill-suites.md)); no candidate may change it",
		},
		pathKey(func(p *Program) *string { return &p.Evals }), suiteMeaning,
	},
	{
		Key{
			"tasks", "What is measured", "path", "none",
			"directory of the task suite",
		},
		pathKey(func(p *Program) *string { return &p.Tasks }), suiteMeaning,
	},
	{
		Key{
			"no-case-regression", "What is measured", "yes or no", "`false`",
			"a skill may not lose a case that passed",
		},
		boolKey(func(p *Program) *bool { return &p.NoCaseRegression }), sameNumber,
	},
	{
		Key{
			"min-composite-gain", "What is measured", "number", "0.01",
			"what a task suite must gain",
		},
		thresholdKey(func(t *Thresholds) *float64 { return &t.MinCompositeGain }), thresholdsMeaning,
	},
	{
		Key{
			"regression-composite-drop", "What is measured", "number", "0.05",
			"a drop of one task beyond this is a regression",
		},
		thresholdKey(func(t *Thresholds) *float64 { return &t.RegressionCompositeDrop }), thresholdsMeaning,
	},
	{
		Key{
			"objective-drop-is-regression", "What is measured", "yes or no", "`true`",
			"fewer checks passed is a regression",
		},
		boolKey(func(p *Program) *bool { return &p.Thresholds.ObjectiveDropIsRegression }), thresholdsMeaning,
	},
	{
		Key{
			"net-loss-is-regression", "What is measured", "yes or no", "`false`",
			"a loss of the whole suite is a regression",
		},
		boolKey(func(p *Program) *bool { return &p.Thresholds.NetLossIsRegression }), thresholdsMeaning,
	},
	{
		Key{
			"cost-tolerance", "What is measured", "number", "0",
			"a cost within this part of the reference counts as equal",
		},
		thresholdKey(func(t *Thresholds) *float64 { return &t.CostTolerance }), thresholdsMeaning,
	},
	{
		Key{
			"judge", "What is measured", "word", "`auto`",
			"who judges: `auto`, `api`, `cli`, `off`",
		},
		choiceKey(func(p *Program) *string { return &p.Judge }, "auto", "api", "cli", "off"), judgeMeaning,
	},
	{
		Key{
			"judge-model", "What is measured", "text", "none",
			"the model that judges",
		},
		textKey(func(p *Program) *string { return &p.JudgeModel }, "the name of a model"), judgeMeaning,
	},
	{
		Key{
			"target", "What may change", "list of globs", "the section",
			"what may change, instead of the Target section",
		},
		patternsKey(func(p *Program) *[]Pattern { return &p.Targets }, newPattern), sameNumber,
	},
	{
		Key{
			"protect", "What may change", "list of globs", "none",
			"what may not change, besides what the section says",
		},
		patternsKey(func(p *Program) *[]Pattern { return &p.Protected }, newProtection), sameNumber,
	},
	{
		Key{
			"setup", "How it runs", "command", "none",
			"runs once in a fresh tree before the evaluation",
		},
		textKey(func(p *Program) *string { return &p.Setup }, "a command"),
		func(p *Program, m *Meaning) { m.Setup = p.Setup },
	},
	{
		Key{
			"start", "How it runs", "command", "none",
			"starts the server that a skill's cases ask, in the skill's directory; it listens on `$PORT`",
		},
		textKey(func(p *Program) *string { return &p.Start }, "a command"), startMeaning,
	},
	{
		Key{
			"share", "How it runs", "list of paths", "none",
			"ignored paths, such as `node_modules`, that are copied from your checkout into the tree",
		},
		setShare, sameNumber,
	},
	{
		Key{
			"env", "How it runs", "list of names", "none",
			"variables that agent and evaluation may see; never a GitHub token",
		},
		setEnv, sameNumber,
	},
	{
		Key{
			"pass-config", "How it runs", "list of words", "none",
			"tools, such as `pip`, whose [configuration](../reference/environment.md#pass-config) in your home the " +
				"evaluation is given",
		},
		setPassConfig, passConfigMeaning,
	},
	{
		Key{
			"timeout-minutes", "How it runs", "number", "45",
			"for one iteration",
		},
		func(p *Program, v value) (err error) { p.Timeout, err = v.minutes(); return err }, sameNumber,
	},
	{
		Key{
			"evaluation-timeout", "How it runs", "time",
			"`10m`; for a candidate ten times as long as the unchanged files took, at least `60s`",
			"for one run of the evaluation, as `90s` or `1h30m`",
		},
		durationKey(func(p *Program) *time.Duration { return &p.EvaluationTimeout }, time.Second), sameNumber,
	},
	{
		Key{
			"jobs", "How it runs", "count", "2",
			"eval cases or tasks at the same time, up to 256",
		},
		countKey(func(p *Program) *int { return &p.Jobs }, 256), sameNumber,
	},
	{
		Key{
			"network", "How it runs", "yes or no", "`true`",
			"whether the evaluation may use it; `false` needs [isolation](../explain/isolation.md)",
		},
		boolKey(func(p *Program) *bool { return &p.Network }), sameNumber,
	},
	{
		Key{
			"isolation", "How it runs", "word", "`auto`",
			"whether commands are [kept apart](../explain/isolation.md#settings) from the machine: `auto`, " +
				"`required` or `off`",
		},
		choiceKey(func(p *Program) *string { return &p.Isolation }, "auto", "required", "off"), sameNumber,
	},
	{
		Key{
			"agent", "Who proposes", "word", "what the run finds, as `iterate doctor` says",
			"who proposes changes: `command`, `tuner`, [`models`](../howto/models.md) or [another coding " +
				"agent](../howto/agents.md)",
		},
		setAgent, sameNumber,
	},
	{
		Key{
			"agents", "Who proposes", "list", "none",
			"several that take turns, as `[claude, {agent: codex, model: gpt-5}]`",
		},
		setAgents, sameNumber,
	},
	{
		Key{
			"model", "Who proposes", "text", "the agent's own",
			"the model of the agent, and of each of `agents` that names none",
		},
		textKey(func(p *Program) *string { return &p.Model }, "the name of a model"), sameNumber,
	},
	{
		Key{
			"agent-command", "Who proposes", "command", "none",
			"the command of `agent: command`",
		},
		textKey(func(p *Program) *string { return &p.AgentCommand }, "a command"), executorMeaning,
	},
	{
		Key{
			"executor", "Who proposes", "word", "`command` with an `executor-command`, else the agent",
			"who works on the tasks or cases of a suite",
		},
		textKey(func(p *Program) *string { return &p.Executor }, "the name of an agent"), executorMeaning,
	},
	{
		Key{
			"executor-command", "Who proposes", "command", "none",
			"the command of `executor: command`; files that it names are the checkout's, but for [those under " +
				"test](../reference/task-suites.md#in-the-loop)",
		},
		textKey(func(p *Program) *string { return &p.ExecutorCommand }, "a command"), executorMeaning,
	},
	{
		Key{
			"candidates", "Who proposes", "count", "1, or one for each of `agents`",
			"proposals for one iteration, up to 64; the best is kept",
		},
		countKey(func(p *Program) *int { return &p.Candidates }, 64), sameNumber,
	},
	{
		Key{
			"strategy", "Who proposes", "word", "none",
			"`" + strings.Join(strategy.All().Names(), "` or `") + "`",
		},
		choiceKey(func(p *Program) *string { return &p.Strategy }, strategy.All().Names()...), sameNumber,
	},
	{
		Key{
			"ci-gate", "On GitHub", "word", "`auto`",
			"`auto`, `required` or `off`",
		},
		choiceKey(func(p *Program) *string { return &p.CIGate }, "auto", "required", "off"), sameNumber,
	},
	{
		Key{
			"ci-wait", "On GitHub", "time", "`10m`",
			"how long a run waits for CI; 0 for not at all",
		},
		durationKey(func(p *Program) *time.Duration { return &p.CIWait }, 0), sameNumber,
	},
	{
		Key{
			"ci-timeout", "On GitHub", "time", "`60m`",
			"when CI that never answers pauses the program",
		},
		durationKey(func(p *Program) *time.Duration { return &p.CITimeout }, time.Second), sameNumber,
	},
	{
		Key{
			"ci-workflow", "On GitHub", "text", "none",
			"a workflow to start for a pushed commit",
		},
		textKey(func(p *Program) *string { return &p.CIWorkflow }, "the file name of a workflow"), sameNumber,
	},
	{
		Key{
			"trusted-associations", "On GitHub", "list of words", "`[OWNER, MEMBER, COLLABORATOR]`",
			"who may steer the program; ignored in an issue",
		},
		setAssociations, sameNumber,
	},
	{
		Key{
			"comments", "On GitHub", "word", "`accepted`",
			"`accepted` comments on what was kept and when the program stops, `all` on every iteration",
		},
		choiceKey(func(p *Program) *string { return &p.Comments }, "accepted", "all"), sameNumber,
	},
	{
		Key{
			"pull-request", "On GitHub", "map", "none",
			"`{title: \"{type}({scope}): {summary}\", type: perf, labels: [l], reviewers: [login, org/team], " +
				"assignees: [login], when-ready: stop}`, any of them; " +
				"`when-ready: continue` commits also while it is ready for review",
		},
		setPullRequest, sameNumber,
	},
}
