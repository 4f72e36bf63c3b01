package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// setter puts one key's value into a program; the error says what is accepted.
type setter func(p *Program, v value) error

// keys are all keys of the frontmatter.
var keys = map[string]setter{
	"schedule":                     setSchedule,
	"metric-direction":             setDirection,
	"target-metric":                setTarget,
	"metric":                       textKey(func(p *Program) *string { return &p.Metric }, "the key of a number in the evaluation's JSON, such as `score`"),
	"metric-range":                 setRange,
	"guardrails":                   setGuardrails,
	"evaluation":                   setEvaluation,
	"skill":                        pathKey(func(p *Program) *string { return &p.Skill }),
	"evals":                        pathKey(func(p *Program) *string { return &p.Evals }),
	"tasks":                        pathKey(func(p *Program) *string { return &p.Tasks }),
	"evaluation-runs":              setRuns,
	"min-improvement":              func(p *Program, v value) (err error) { p.MinImprovement, err = v.allowance(); return err },
	"confidence":                   setConfidence,
	"min-composite-gain":           thresholdKey(func(t *Thresholds) *float64 { return &t.MinCompositeGain }),
	"regression-composite-drop":    thresholdKey(func(t *Thresholds) *float64 { return &t.RegressionCompositeDrop }),
	"cost-tolerance":               thresholdKey(func(t *Thresholds) *float64 { return &t.CostTolerance }),
	"objective-drop-is-regression": boolKey(func(p *Program) *bool { return &p.Thresholds.ObjectiveDropIsRegression }),
	"net-loss-is-regression":       boolKey(func(p *Program) *bool { return &p.Thresholds.NetLossIsRegression }),
	"no-case-regression":           boolKey(func(p *Program) *bool { return &p.NoCaseRegression }),
	"judge":                        choiceKey(func(p *Program) *string { return &p.Judge }, "auto", "api", "cli", "off"),
	"judge-model":                  textKey(func(p *Program) *string { return &p.JudgeModel }, "the name of a model"),
	"plateau":                      setPlateau,
	"stop-after-reverts":           func(p *Program, v value) (err error) { p.StopAfterReverts, err = v.countOrOff(); return err },
	"timeout-minutes":              func(p *Program, v value) (err error) { p.Timeout, err = v.minutes(); return err },
	"evaluation-timeout":           durationKey(func(p *Program) *time.Duration { return &p.EvaluationTimeout }, time.Second),
	"jobs":                         countKey(func(p *Program) *int { return &p.Jobs }, 256),
	"setup":                        textKey(func(p *Program) *string { return &p.Setup }, "a command"),
	"share":                        setShare,
	"env":                          setEnv,
	"network":                      boolKey(func(p *Program) *bool { return &p.Network }),
	"isolation":                    choiceKey(func(p *Program) *string { return &p.Isolation }, "auto", "required", "off"),
	"target":                       patternsKey(func(p *Program) *[]Pattern { return &p.Targets }),
	"protect":                      patternsKey(func(p *Program) *[]Pattern { return &p.Protected }),
	"agent":                        setAgent,
	"agents":                       setAgents,
	"model":                        textKey(func(p *Program) *string { return &p.Model }, "the name of a model"),
	"agent-command":                textKey(func(p *Program) *string { return &p.AgentCommand }, "a command"),
	"executor":                     textKey(func(p *Program) *string { return &p.Executor }, "the name of an agent"),
	"executor-command":             textKey(func(p *Program) *string { return &p.ExecutorCommand }, "a command"),
	"candidates":                   countKey(func(p *Program) *int { return &p.Candidates }, 64),
	"strategy":                     choiceKey(func(p *Program) *string { return &p.Strategy }, "openevolve", "test-driven"),
	"budget":                       setBudgets,
	"unknown-cost":                 choiceKey(func(p *Program) *string { return &p.UnknownCost }, "allow", "pause"),
	"ci-gate":                      choiceKey(func(p *Program) *string { return &p.CIGate }, "auto", "required", "off"),
	"ci-wait":                      durationKey(func(p *Program) *time.Duration { return &p.CIWait }, 0),
	"ci-timeout":                   durationKey(func(p *Program) *time.Duration { return &p.CITimeout }, time.Second),
	"ci-workflow":                  textKey(func(p *Program) *string { return &p.CIWorkflow }, "the file name of a workflow"),
	"trusted-associations":         setAssociations,
}

// readFields takes over the frontmatter and what follows from it.
func (p *Program) readFields(head header) {
	for i, f := range head.fields {
		if before := slices.IndexFunc(head.fields[:i], func(g field) bool { return g.key == f.key }); before >= 0 {
			p.fail(f.line, "key `%s` is given twice (`%s` on line %d); keep one", clip(f.name), clip(head.fields[before].name), head.fields[before].line)
			continue
		}
		p.readField(f)
	}
	p.conclude(head.fields)
}

func (p *Program) readField(f field) {
	set, known := keys[f.key]
	if !known {
		p.warn(f.line, "unknown key `%s` is ignored%s", clip(f.name), nearest(f.key))
		return
	}
	if f.placeholder() {
		p.placeholder(f.line)
		return
	}
	err := f.refusal()
	if err == nil {
		err = set(p, f.value)
	}
	if err == nil {
		return
	}
	line := f.line
	var at fault
	if errors.As(err, &at) {
		line = at.line
	}
	p.fail(line, "`%s`: %v", f.name, err)
}

// refusal says why a value, or one within it, is of no accepted form.
func (v value) refusal() error {
	if v.kind == refused {
		return fault{v.line, errors.New(v.text)}
	}
	for _, item := range v.items {
		if err := item.refusal(); err != nil {
			return err
		}
	}
	for _, f := range v.fields {
		if err := f.refusal(); err != nil {
			return err
		}
	}
	return nil
}

// placeholder reports whether the value, or an item of it, was not filled in.
func (v value) placeholder() bool {
	return v.kind == scalar && isPlaceholder(strings.TrimSpace(v.text)) || slices.ContainsFunc(v.items, value.placeholder)
}

// nearest suggests the known key that an unknown one was meant for.
func nearest(key string) string {
	key = strings.ToLower(clip(key))
	best, least := "", 3
	for known := range keys {
		if d := Distance(key, known); d < least || d == least && best != "" && known < best {
			best, least = known, d
		}
	}
	if best == "" || least*3 > len(key) {
		return ""
	}
	return fmt.Sprintf("; did you mean `%s`?", best)
}
