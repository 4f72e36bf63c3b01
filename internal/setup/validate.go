package setup

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
)

// Checked is what a program will do, and what is wrong with it: one file in
// `iterate validate --json`. Null is for what the
// program does not say.
type Checked struct {
	File            string                 `json:"file"`
	Name            string                 `json:"name"`
	OK              bool                   `json:"ok"` // it runs when it is due
	Errors          []string               `json:"errors"`
	Warnings        []string               `json:"warnings"`
	Unconfigured    bool                   `json:"unconfigured"`
	Schedule        *string                `json:"schedule"`
	IntervalSeconds *int64                 `json:"interval_seconds"`
	Cron            *string                `json:"cron"`
	TargetMetric    *metric.Value          `json:"target_metric"`
	MetricDirection string                 `json:"metric_direction"`
	Metric          *string                `json:"metric"`
	Targets         []string               `json:"targets"`
	Protected       []string               `json:"protected"`
	Evaluation      program.EvaluationKind `json:"evaluation"`
	Script          *string                `json:"evaluation_script"`
	Prose           []string               `json:"taken_as_prose,omitempty"`

	program    *program.Program
	may, never []string // Targets and Protected with their lines, for people
}

// Check says what a program does, among the sorted files of a checkout, and what is wrong
// with it besides the reasons for which it is refused.
func Check(p *program.Program, files []string, refusals []program.Problem) Checked {
	closed := p.Closed()
	open := slices.DeleteFunc(slices.Clone(p.Targets),
		func(target program.Pattern) bool { return slices.Contains(closed, target) })
	v := Checked{
		File: p.File, Name: p.Name, Unconfigured: p.Unconfigured, TargetMetric: p.Target,
		MetricDirection: p.Direction.String(),
		Evaluation:      p.Evaluation, Errors: []string{}, Warnings: []string{}, Targets: program.Texts(open),
		Protected: program.Texts(p.Protected),
		Schedule:  given(p.Schedule.Text), Metric: given(p.Metric), Script: given(p.Script),
		Prose: program.Texts(p.Prose), program: p,
	}
	for _, target := range open {
		v.may = append(v.may, onLine(target.Text, target.Line))
	}
	v.never = neverChange(p, files)
	say := func(list *[]string, problems []program.Problem) {
		for _, problem := range problems {
			*list = append(*list, problem.String())
		}
	}
	say(&v.Errors, refusals)
	if len(v.Errors) == 0 && !p.Unconfigured {
		say(&v.Warnings, targetWarnings(p, files))
		say(&v.Warnings, p.ClosedWarnings())
		if text := p.SharedOutput(); text != "" {
			v.Warnings = append(v.Warnings, text)
		}
	}
	say(&v.Warnings, p.Warnings())
	if interval, ok := p.Schedule.Interval(); ok {
		v.IntervalSeconds = new(int64(interval.Seconds()))
	}
	if p.Schedule.IsCron() {
		v.Cron = given(p.Schedule.Text)
	}
	v.OK = len(v.Errors) == 0 && !v.Unconfigured
	return v
}

// neverChange says in words what the program protects.
func neverChange(p *program.Program, files []string) []string {
	var list []string
	for _, pattern := range p.Protected {
		text := pattern.Text
		if pattern.Anywhere {
			text += " at any depth"
		}
		list = append(list, onLine(text, pattern.Line))
	}
	matcher := p.Matcher()
	for _, file := range p.ScriptFiles(files) {
		if matcher.Allows(file) && !matcher.Literal(file) {
			list = append(list, file+" (the evaluation names it)")
		}
	}
	return list
}

// onLine is a pattern with the line that says it.
func onLine(text string, line int) string {
	if line == 0 {
		return text
	}
	return fmt.Sprintf("%s (line %d)", text, line)
}

// targetWarnings finds targets that match nothing as they stand, among the sorted files.
func targetWarnings(p *program.Program, files []string) []program.Problem {
	var warnings []program.Problem
	for _, pattern := range p.Targets {
		if strings.ContainsAny(pattern.Text, "*?[{") {
			continue
		}
		path, slash := strings.CutSuffix(pattern.Text, "/")
		_, file := slices.BinarySearch(files, path)
		below, _ := slices.BinarySearch(files, path+"/")
		directory := below < len(files) && strings.HasPrefix(files[below], path+"/")
		var says string
		switch {
		case !file && !directory:
			says = "there is no `%s` yet"
		case directory && !slash:
			says = "target `%s` is a directory; write it with a slash at its end to mean all its files"
		case file && slash:
			says = "target `%s` is no directory"
		default:
			continue
		}
		warnings = append(warnings, program.Problem{
			File: p.File, Line: pattern.Line, Message: fmt.Sprintf(says, pattern.Text),
		})
	}
	return warnings
}

// WorkingFiles lists the files of a checkout, sorted, also those that are not
// committed yet. What cannot be read is left out.
func WorkingFiles(root string) []string {
	list := []string{}
	_ = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read names nothing
		case entry.IsDir() && entry.Name() == ".git":
			return filepath.SkipDir
		case entry.Type().IsRegular():
			if name, err := filepath.Rel(root, file); err == nil {
				list = append(list, filepath.ToSlash(name))
			}
		}
		return nil
	})
	slices.Sort(list)
	return list
}

func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// String is what is said to people.
func (v Checked) String() string {
	var out strings.Builder
	switch {
	case len(v.Errors) > 0:
		fmt.Fprintf(&out, "%s: does not run\n", v.File)
	case v.Unconfigured:
		fmt.Fprintf(&out, "%s: not configured yet: fill in line %d\n", v.File, v.program.Placeholder)
	default:
		fmt.Fprintf(&out, "%s: ok\n", v.File)
	}
	for _, problem := range v.Errors {
		fmt.Fprintf(&out, "  error: %s\n", plain.Line(problem))
	}
	for _, problem := range v.Warnings {
		fmt.Fprintf(&out, "  warning: %s\n", plain.Line(problem))
	}
	if v.OK {
		v.describe(&out)
	}
	return out.String()
}

// describe says in a few lines what the program will do.
func (v Checked) describe(out *strings.Builder) {
	line := func(name, text string) { fmt.Fprintf(out, "  %-11s %s\n", name, plain.Line(text)) }
	line("schedule", cmp.Or(v.program.Schedule.Text, "at every tick"))
	metric := cmp.Or(v.program.Metric, "the only number") + ", " + v.MetricDirection + " is better"
	if v.TargetMetric != nil {
		metric += ", completed at " + v.TargetMetric.String()
	}
	line("metric", metric)
	each := func(name string, lines []string) {
		for _, text := range lines {
			line(name, text)
			name = ""
		}
	}
	each("may change", v.may)
	each("never", v.never)
	if len(v.Prose) > 0 {
		line("prose", "taken as prose, since nothing has that name: "+strings.Join(v.Prose, ", "))
	}
	each("evaluation", strings.Split(strings.TrimRight(cmp.Or(v.program.Script, string(v.Evaluation)), "\n"), "\n"))
}
