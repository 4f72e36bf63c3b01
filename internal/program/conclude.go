package program

import (
	"path"
	"slices"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

// conclude sets what follows from several keys, and finds keys that do not go
// together.
func (p *Program) conclude(fields []field) {
	line := func(key string) int {
		if i := indexOfField(fields, key); i >= 0 {
			return fields[i].line
		}
		return 0
	}
	if line("evaluation") == 0 && !p.settings {
		switch {
		case line("skill") > 0:
			p.Evaluation = Skill
		case line("tasks") > 0:
			p.Evaluation = Tasks
		}
	}
	p.targetsGiven = len(p.Targets) > 0
	p.TimeLimitGiven, p.PlateauGiven = line("evaluation-timeout") > 0, line("plateau") > 0
	slices.Sort(p.PassConfig)
	p.PassConfig = slices.Compact(p.PassConfig)
	p.concludeKind(line)
	p.concludeNumbers(line)
}

func (p *Program) concludeKind(line func(string) int) {
	switch {
	case p.settings:
	case p.Evaluation == Skill && line("skill") == 0:
		p.fail(line("evaluation"), "`evaluation: skill` needs the skill's directory; add a line `skill: "+
			"path/of/the/skill`")
	case p.Evaluation == Tasks && line("tasks") == 0:
		p.fail(line("evaluation"), "`evaluation: tasks` needs the suite's directory; add a line `tasks: "+
			"path/of/the/tasks`")
	case line("skill") > 0 && line("tasks") > 0 && line("evaluation") == 0:
		p.warn(line("tasks"), "both `skill` and `tasks` are given; `evaluation: skill` is taken")
	}
	if line("evals") > 0 && line("skill") == 0 {
		p.warn(line("evals"), "`evals` has no effect without `skill`")
	}
	if p.Evaluation != Metric && p.Direction == metric.Lower {
		p.fail(line("metric-direction"),
			"a program with `evaluation: %s` is always `higher`; remove `metric_direction`", p.Evaluation)
	}
	if p.Skill != "" && p.Evals == "" {
		p.Evals = path.Join(p.Skill, "evals/evals.json")
	}
	if p.Evaluation == Skill {
		p.concludeSkill(line)
	}
	p.Plateau = p.PlateauFor(p.Agent)
}

// perfectRate is the best that a pass rate can be.
const perfectRate = 1

// concludeSkill sets what holds for skills: the plain comparison of a run each,
// at most three reverts in a row, an end at the perfect pass rate, and an eval
// suite that no candidate may touch.
func (p *Program) concludeSkill(line func(string) int) {
	if line("evaluation-runs") == 0 {
		p.Runs = 1
	}
	if line("stop-after-reverts") == 0 {
		p.StopAfterReverts = skillReverts
	}
	if perfect := metric.FromInt(perfectRate); p.Target == nil && line("target-metric") == 0 {
		p.Target = &perfect
	} else if p.Target != nil && p.Target.Cmp(perfect) > 0 {
		p.fail(line("target-metric"), "target-metric %s can never be reached: a pass rate is from 0 to 1", p.Target)
	}
	if p.Skill != "" {
		p.protectSuite(line("skill"), path.Join(p.Skill, "evals")+"/", p.Evals)
	}
}

// ProtectInputs makes files that cases of the skill's suite name, as paths of the
// repository, part of the suite: a candidate may not change what it is given.
func (p *Program) ProtectInputs(files []string) { p.protectSuite(0, files...) }

func (p *Program) protectSuite(line int, files ...string) {
	for _, file := range files {
		if !p.OfSuite(file) {
			p.Protected = append(p.Protected, Pattern{Text: file, Line: line, Firm: true})
		}
	}
}

// OfSuite reports whether a path is part of what a skill is graded by: it counts
// as part of the evaluation although the target may match it.
func (p *Program) OfSuite(name string) bool {
	return slices.ContainsFunc(p.Protected, func(own Pattern) bool { return own.Firm && own.Match(name) })
}

func (p *Program) concludeNumbers(line func(string) int) {
	if p.Target != nil && p.Range != nil && (p.Target.Cmp(p.Range.Min) < 0 || p.Target.Cmp(p.Range.Max) > 0) {
		p.warn(line("target-metric"), "target-metric %s is outside metric-range [%s, %s]: it can never be reached",
			p.Target, p.Range.Min, p.Range.Max)
	}
	if needed := statistics.RunsNeeded(p.Confidence); p.Evaluation == Metric && p.Runs > 1 && p.Runs < needed {
		p.fail(line("evaluation-runs"),
			"`evaluation-runs`: %d runs can never reach a confidence of %g; give %d or more, `auto`, or 1 for a "+
				"plain comparison", p.Runs, p.Confidence, needed)
	}
}
