package setup

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lists"
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

	about       string // the program in a few lines
	placeholder int    // the line where it is not configured yet
}

// Check says what a program does, among the sorted files of a checkout, and what is wrong
// with it besides the reasons for which it is refused.
func Check(p *program.Program, files []string, refusals program.Problems) Checked {
	closed := p.Closed()
	open := slices.DeleteFunc(slices.Clone(p.Targets),
		func(target program.Pattern) bool { return slices.Contains(closed, target) })
	v := Checked{
		File: p.File, Name: p.Name, OK: len(refusals) == 0 && !p.Unconfigured, Unconfigured: p.Unconfigured,
		Errors: lists.Map(refusals, program.Problem.String), Warnings: []string{},
		Schedule: given(p.Schedule.Text), TargetMetric: p.Target, MetricDirection: p.Direction.String(),
		Metric: given(p.Metric), Targets: program.Texts(open), Protected: program.Texts(p.Protected),
		Evaluation: p.Evaluation, Script: given(p.Script), Prose: program.Texts(p.Prose), placeholder: p.Placeholder,
	}
	if v.OK {
		v.about = describe(p, open, files)
		v.Warnings = lists.Map(append(targetWarnings(p, files), p.ClosedWarnings()...), program.Problem.String)
		if text := p.SharedOutput(); text != "" {
			v.Warnings = append(v.Warnings, text)
		}
	}
	v.Warnings = append(v.Warnings, lists.Map(p.Warnings(), program.Problem.String)...)
	if interval, ok := p.Schedule.Interval(); ok {
		v.IntervalSeconds = new(int64(interval.Seconds()))
	}
	if p.Schedule.IsCron() {
		v.Cron = v.Schedule
	}
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
	for _, file := range p.ScriptFiles(files) {
		if p.Allows(file) && !p.NamesExactly(file) {
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
func targetWarnings(p *program.Program, files []string) program.Problems {
	var warnings program.Problems
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
	_ = fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read names nothing
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.Type().IsRegular():
			list = append(list, name)
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
	head := "ok"
	switch {
	case len(v.Errors) > 0:
		head = "does not run"
	case v.Unconfigured:
		head = fmt.Sprintf("not configured yet: fill in line %d", v.placeholder)
	}
	text := v.File + ": " + head + "\n"
	for _, problem := range v.Errors {
		text += "  error: " + plain.Line(problem) + "\n"
	}
	for _, problem := range v.Warnings {
		text += "  warning: " + plain.Line(problem) + "\n"
	}
	if v.OK {
		text += v.about
	}
	return text
}

// describe says in a few lines what a program will do that may change these targets.
func describe(p *program.Program, open []program.Pattern, files []string) string {
	var out strings.Builder
	each := func(name string, lines ...string) {
		for _, text := range lines {
			fmt.Fprintf(&out, "  %-11s %s\n", name, plain.Line(text))
			name = ""
		}
	}
	each("schedule", cmp.Or(p.Schedule.Text, "at every tick"))
	metric := cmp.Or(p.Metric, "the only number") + ", " + p.Direction.String() + " is better"
	if p.Target != nil {
		metric += ", completed at " + p.Target.String()
	}
	each("metric", metric)
	var may []string
	for _, target := range open {
		may = append(may, onLine(target.Text, target.Line))
	}
	each("may change", may...)
	each("never", neverChange(p, files)...)
	if len(p.Prose) > 0 {
		each("prose", "taken as prose, since nothing has that name: "+strings.Join(program.Texts(p.Prose), ", "))
	}
	each("evaluation", strings.Split(strings.TrimRight(cmp.Or(p.Script, string(p.Evaluation)), "\n"), "\n")...)
	return out.String()
}
