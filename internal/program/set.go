package program

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/score"
)

// The setters of keys with a form of their own.

func setSchedule(p *Program, v value) error {
	text, err := v.scalarText()
	if err != nil {
		return fmt.Errorf("%w; %s", err, scheduleForms)
	}
	p.Schedule, err = ParseSchedule(text)
	return err
}

func setDirection(p *Program, v value) error {
	d, err := v.direction()
	if err != nil {
		p.directionBad = true
		return err
	}
	p.Direction, p.DirectionGiven = d, true
	return nil
}

func (v value) direction() (score.Direction, error) {
	text, err := v.oneOf("higher", "lower")
	return score.Direction(text), err
}

func setTarget(p *Program, v value) error {
	number, err := v.number()
	if err == nil {
		p.Target = &number
	}
	return err
}

func setRange(p *Program, v value) error {
	const accepted = "give two numbers, the smaller first, as in `[0, 100]`"
	if v.kind != list || len(v.items) != 2 {
		return fmt.Errorf("%s", accepted)
	}
	low, err := v.items[0].number()
	if err != nil {
		return fmt.Errorf("%w; %s", err, accepted)
	}
	high, err := v.items[1].number()
	if err != nil {
		return fmt.Errorf("%w; %s", err, accepted)
	}
	if low.Cmp(high) >= 0 {
		return fmt.Errorf("%s is not below %s; %s", low, high, accepted)
	}
	p.Range = &Range{Min: low, Max: high}
	return nil
}

const maxGuardrails = 50

func setGuardrails(p *Program, v value) error {
	const accepted = "give a list of `{metric: lag, direction: lower, max-regression: 5%}`"
	if v.kind != list || len(v.items) == 0 || len(v.items) > maxGuardrails {
		return fmt.Errorf("%s", accepted)
	}
	for _, item := range v.items {
		if item.kind != mapping {
			return fault{item.line, fmt.Errorf("%s", accepted)}
		}
		rail, err := p.guardrail(item)
		if err != nil {
			return err
		}
		p.Guardrails = append(p.Guardrails, rail)
	}
	return nil
}

func (p *Program) guardrail(item value) (rail Guardrail, err error) {
	rail.Direction = score.Higher
	given := map[string]bool{}
	for _, f := range item.fields {
		if given[f.key] {
			return rail, fault{f.line, fmt.Errorf("`%s` is given twice; keep one", f.name)}
		}
		given[f.key] = true
		switch f.key {
		case "metric":
			rail.Metric, err = f.oneLine("the key of a number in the evaluation's JSON")
		case "direction", "metric-direction":
			rail.Direction, err = f.direction()
		case "max-regression":
			rail.MaxRegression, err = f.allowance()
		default:
			p.warn(f.line, "unknown key `%s` of a guardrail is ignored; known are metric, direction and max-regression", clip(f.name))
		}
		if err != nil {
			return rail, fault{f.line, fmt.Errorf("`%s`: %w", f.name, err)}
		}
	}
	if rail.Metric == "" {
		return rail, fault{item.line, fmt.Errorf("a guardrail needs `metric`, the key of a number in the evaluation's JSON")}
	}
	if !given["direction"] && !given["metric-direction"] {
		p.warn(item.line, "guardrail `%s` has no `direction`; `higher` is taken", clip(rail.Metric))
	}
	return rail, nil
}

func setEvaluation(p *Program, v value) error {
	text, err := v.oneOf(string(Metric), string(Skill), string(Tasks))
	if err == nil {
		p.Evaluation = Kind(text)
	}
	return err
}

func setRuns(p *Program, v value) (err error) {
	if v.kind == scalar && strings.EqualFold(strings.TrimSpace(v.text), "auto") {
		return nil
	}
	p.Runs, err = v.count(1, 1000, ", or `auto`")
	return err
}

func setConfidence(p *Program, v value) error {
	c, err := v.amount()
	if err != nil {
		return err
	}
	if c < 0.5 || c >= 1 {
		return fmt.Errorf("%g is not accepted; give a number from 0.5 to below 1, such as 0.95", c)
	}
	p.Confidence = c
	return nil
}

func setPlateau(p *Program, v value) (err error) {
	n, err := v.countOrOff()
	if err == nil {
		p.Plateau, p.PlateauGiven = n, true
	}
	return err
}

func setShare(p *Program, v value) error {
	items, err := v.words("node_modules, .venv")
	if err != nil {
		return err
	}
	for _, item := range items {
		path, err := cleanPath(item.text)
		if err != nil {
			return fault{item.line, err}
		}
		p.Share = append(p.Share, path)
	}
	return nil
}

// withheld are variables that no agent and no evaluation ever sees.
var withheld = []string{"GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"}

func setEnv(p *Program, v value) error {
	items, err := v.words("API_URL, CACHE_DIR")
	if err != nil {
		return err
	}
	for _, item := range items {
		name := strings.TrimSpace(item.text)
		if !isEnvName(name) {
			return fault{item.line, fmt.Errorf("%q is no name of a variable; give names only, as in `[API_URL]`", clip(name))}
		}
		if slices.Contains(withheld, strings.ToUpper(name)) {
			return fault{item.line, fmt.Errorf("`%s` is never given to agents and evaluations; remove it", name)}
		}
		p.Env = append(p.Env, name)
	}
	return nil
}

func isEnvName(name string) bool {
	for i := range len(name) {
		if c := name[i]; !letter(c) && c != '_' && (i == 0 || !digit(c)) {
			return false
		}
	}
	return name != ""
}

// knownAgents are those of this version; another name is a warning.
var knownAgents = []string{"command", "claude", "codex", "copilot", "gemini", "opencode", "cursor", "models", "tuner"}

func setAgent(p *Program, v value) (err error) {
	p.Agent, err = p.agentName(v)
	return err
}

func setAgents(p *Program, v value) error {
	items, err := v.words("claude, codex")
	if err != nil {
		return err
	}
	for _, item := range items {
		name, err := p.agentName(item)
		if err != nil {
			return err
		}
		p.Agents = append(p.Agents, name)
	}
	return nil
}

func (p *Program) agentName(v value) (string, error) {
	name, err := v.oneLine("the name of an agent: " + strings.Join(knownAgents, ", "))
	if err != nil {
		return "", err
	}
	if !slices.Contains(knownAgents, name) {
		p.warn(v.line, "`%s` is no agent known here; known are %s", clip(name), strings.Join(knownAgents, ", "))
	}
	return name, nil
}

var associations = []string{"OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR", "MANNEQUIN", "NONE"}

// setAssociations reads whom the maintainers trust. An issue cannot say that
// of its own author.
func setAssociations(p *Program, v value) error {
	items, err := v.words("OWNER, MEMBER")
	if err != nil {
		return err
	}
	var names []string
	for _, item := range items {
		name := strings.ToUpper(strings.TrimSpace(item.text))
		if !slices.Contains(associations, name) {
			return fault{item.line, fmt.Errorf("%q is no association; accepted are %s", clip(name), strings.Join(associations, ", "))}
		}
		names = append(names, name)
	}
	if p.Issue > 0 {
		p.warn(v.line, "`trusted-associations` in an issue is ignored: an issue cannot say who is trusted")
		return nil
	}
	p.TrustedAssociations = names
	return nil
}

// conclude sets what follows from several keys, and finds keys that do not go
// together.
func (p *Program) conclude(fields []field) {
	line := func(key string) int {
		for _, f := range fields {
			if f.key == key {
				return f.line
			}
		}
		return 0
	}
	if line("evaluation") == 0 {
		switch {
		case line("skill") > 0:
			p.Evaluation = Skill
		case line("tasks") > 0:
			p.Evaluation = Tasks
		}
	}
	p.concludeKind(line)
	p.concludeNumbers(line)
}

func (p *Program) concludeKind(line func(string) int) {
	switch {
	case p.Evaluation == Skill && line("skill") == 0:
		p.fail(line("evaluation"), "`evaluation: skill` needs the skill's directory; add a line `skill: path/of/the/skill`")
	case p.Evaluation == Tasks && line("tasks") == 0:
		p.fail(line("evaluation"), "`evaluation: tasks` needs the suite's directory; add a line `tasks: path/of/the/tasks`")
	case line("skill") > 0 && line("tasks") > 0 && line("evaluation") == 0:
		p.warn(line("tasks"), "both `skill` and `tasks` are given; `evaluation: skill` is taken")
	}
	if line("evals") > 0 && line("skill") == 0 {
		p.warn(line("evals"), "`evals` has no effect without `skill`")
	}
	if p.Evaluation != Metric && p.Direction == score.Lower {
		p.fail(line("metric-direction"), "a program with `evaluation: %s` is always `higher`; remove `metric_direction`", p.Evaluation)
	}
	if p.Skill != "" && p.Evals == "" {
		p.Evals = path.Join(p.Skill, "evals/evals.json")
	}
	if p.Evaluation == Skill && line("evaluation-runs") == 0 {
		p.Runs = 1
	}
	if p.Evaluation == Skill && line("stop-after-reverts") == 0 {
		p.StopAfterReverts = 3
	}
	p.Plateau = p.PlateauFor(p.Agent)
}

func (p *Program) concludeNumbers(line func(string) int) {
	if p.Target != nil && p.Range != nil && (p.Target.Cmp(p.Range.Min) < 0 || p.Target.Cmp(p.Range.Max) > 0) {
		p.warn(line("target-metric"), "target-metric %s is outside metric-range [%s, %s]: it can never be reached", p.Target, p.Range.Min, p.Range.Max)
	}
	if needed := runsNeeded(p.Confidence); p.Evaluation == Metric && p.Runs > 1 && p.Runs < needed {
		p.fail(line("evaluation-runs"), "`evaluation-runs`: %d runs can never reach a confidence of %g; give %d or more, `auto`, or 1 for a plain comparison", p.Runs, p.Confidence, needed)
	}
}

// runsNeeded is the least n for which the exact test on n against n samples
// can reach the confidence: 2/C(2n, n) < 1 − confidence.
func runsNeeded(confidence float64) int {
	const most = 500
	p := 1.0 // 2/C(2n, n) for n = 1
	n := 1
	for ; n < most && p >= 1-confidence; n++ {
		p *= float64(n+1) / float64(2*(2*n+1))
	}
	return n
}
