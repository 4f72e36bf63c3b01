package program

import (
	"path"

	"github.com/org/autoloop/internal/noise"
	"github.com/org/autoloop/internal/score"
)

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
	if needed := noise.RunsNeeded(p.Confidence); p.Evaluation == Metric && p.Runs > 1 && p.Runs < needed {
		p.fail(line("evaluation-runs"), "`evaluation-runs`: %d runs can never reach a confidence of %g; give %d or more, `auto`, or 1 for a plain comparison", p.Runs, p.Confidence, needed)
	}
}
