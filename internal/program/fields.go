package program

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/metric"
)

// part is a key that a mapping may have, with what reads its value.
type part struct {
	key string
	set func(value) error
}

func indexOf(parts []part, key string) int {
	return slices.IndexFunc(parts, func(one part) bool { return one.key == key })
}

// fault is an error at another line than its key's.
type fault struct {
	line int
	error
}

// at places an error, unless it has its place already.
func at(line int, err error) fault {
	if found, placed := errors.AsType[fault](err); placed {
		line = found.line
	}
	return fault{line, err}
}

// readFields reads the frontmatter, and reports all that is wrong with it.
func (p *Program) readFields(fields []field) {
	parts := lists.Map(p.keys(), Key.part)
	for i, f := range fields {
		if f.placeholder() && indexOf(parts, f.key) >= 0 {
			p.placeholder(f.line)
		} else if err := p.readField(fields[:i], f, "", parts); err != nil {
			wrong := at(f.line, err)
			p.fail(wrong.line, "%v", wrong)
		}
	}
	p.conclude(fields)
}

// readParts reads a mapping that belongs to a key, up to its first error; of says what it is, accepted
// what is to be given.
func (p *Program) readParts(v value, of, accepted string, parts ...part) error {
	if v.Kind != yaml.MappingNode {
		return errors.New(accepted)
	}
	fields := v.fields()
	for i, f := range fields {
		if err := p.readField(fields[:i], f, of, parts); err != nil {
			return err
		}
	}
	return nil
}

// readField reads one key of a mapping, after those before it.
func (p *Program) readField(before []field, f field, of string, parts []part) error {
	if i := indexOfField(before, f.key); i >= 0 {
		return fault{f.line, fmt.Errorf("key `%s` is given twice (`%s` on line %d); keep one", clip(f.name),
			clip(before[i].name), before[i].line)}
	}
	known := indexOf(parts, f.key)
	if known < 0 {
		p.unknown(f, of, parts)
		return nil
	}
	if err := parts[known].set(f.value); err != nil {
		return fault{at(f.line, err).line, fmt.Errorf("`%s`: %w", f.name, err)}
	}
	return nil
}

func indexOfField(fields []field, key string) int {
	return slices.IndexFunc(fields, func(f field) bool { return f.key == key })
}

// placeholder reports whether the value, or an item of it, was not filled in.
func (v value) placeholder() bool {
	return v.isScalar() && isPlaceholder(strings.TrimSpace(v.Value)) ||
		slices.ContainsFunc(v.items(), value.placeholder)
}

// unknown takes a key that nothing reads. Where it can only be a known key misspelt
// that is an error: what it was to say would be lost without a word.
func (p *Program) unknown(f field, of string, parts []part) {
	var known []string
	for _, one := range parts {
		known = append(known, one.key)
	}
	// Of a short one every third letter has to be right.
	key := strings.ToLower(clip(f.key))
	if meant := Nearest(key, known, min(len(key)/3, 2)); meant != "" {
		p.fail(f.line, "there is no key `%s`%s; did you mean `%s`?", clip(f.name), of, meant)
		return
	}
	list := ""
	if of != "" {
		list = "; known are " + strings.Join(known, ", ")
	}
	p.warn(f.line, "unknown key `%s`%s is ignored%s", clip(f.name), of, list)
}

// Nearest is the first of the known words that are nearest to another one, "" where each
// has more than so many letters to add, remove, change or exchange with their neighbour.
func Nearest(word string, known []string, most int) string {
	for far := range most + 1 {
		if at := slices.IndexFunc(known, func(one string) bool { return isNear(word, one, far) }); at >= 0 {
			return known[at]
		}
	}
	return ""
}

// isNear reports whether at most so many of these steps make b of a.
func isNear(a, b string, most int) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	if most == 0 || a == "" || b == "" {
		return len(a)+len(b) <= most
	}
	exchanged := len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] && isNear(a[2:], b[2:], most-1)
	return exchanged || isNear(a[1:], b[1:], most-1) || isNear(a[1:], b, most-1) || isNear(a, b[1:], most-1)
}

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
