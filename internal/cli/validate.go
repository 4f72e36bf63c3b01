package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
)

func newValidateCommand(env Env, o *schedulerOptions) *cobra.Command {
	var asJSON, comment bool
	var issue int
	cmd := &cobra.Command{
		Use:   "validate [FILES… | --issue NUMBER]",
		Short: "Check program files, or a program that is an issue",
		Long: "Check program files, all of the repository's or those named, and say what each will do.\n" +
			"The exit code is 1 when any of them has errors.\n\n" +
			"With --issue the program is an issue on GitHub. With --comment the answer is a comment there too, which\n" +
			"later checks edit, and the exit code is 0 whatever it says; in Actions the issue is that of the event.",
		Example: "  scheduler validate\n  scheduler validate .autoloop/programs/speed.md --json\n  scheduler validate --issue 12 --comment",
		RunE: func(cmd *cobra.Command, args []string) error {
			if comment && issue == 0 {
				issue = env.Actions().EventIssue()
			}
			switch {
			case issue > 0 && len(args) > 0:
				return misuse.Errorf("--issue and files exclude each other")
			case issue > 0:
				return validateIssue(cmd.Context(), env, *o, issue, comment, asJSON)
			case comment || issue < 0:
				return misuse.Errorf("say which issue: --issue NUMBER")
			}
			return validate(cmd.Context(), env, *o, args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array, or with --issue an object")
	cmd.Flags().IntVar(&issue, "issue", 0, "the `NUMBER` of the issue that is the program")
	cmd.Flags().BoolVar(&comment, "comment", false, "say it on the issue too")
	return cmd
}

// validated is one file in `scheduler validate --json`. Null is for what the
// program does not say.
type validated struct {
	File            string        `json:"file"`
	Name            string        `json:"name"`
	OK              bool          `json:"ok"` // it runs when it is due
	Errors          []string      `json:"errors"`
	Warnings        []string      `json:"warnings"`
	Unconfigured    bool          `json:"unconfigured"`
	Schedule        *string       `json:"schedule"`
	IntervalSeconds *int64        `json:"interval_seconds"`
	Cron            *string       `json:"cron"`
	TargetMetric    *metric.Value `json:"target_metric"`
	MetricDirection string        `json:"metric_direction"`
	Metric          *string       `json:"metric"`
	Targets         []string      `json:"targets"`
	Protected       []string      `json:"protected"`
	Evaluation      program.Kind  `json:"evaluation"`
	Script          *string       `json:"evaluation_script"`
	Prose           []string      `json:"taken_as_prose,omitempty"`

	placeholder int
	never       []string // Protected, for people
}

func validate(ctx context.Context, env Env, o schedulerOptions, files []string, asJSON bool) error {
	root, repo, err := o.Root(ctx, env)
	if err != nil {
		return err
	}
	programs, err := programsToValidate(env, o, root, files)
	if err != nil {
		return err
	}
	client, err := o.Client(env)
	if err != nil {
		return err
	}
	unread := goOn(ctx, env, repo, programs)
	deps := &app.Deps{Env: env, Options: o.Options, GitHub: client, Repo: repo}
	working := workingFiles(root)
	uncommitted := o.Uncommitted(ctx, env)
	list := make([]validated, len(programs))
	bad := false
	for i, p := range programs {
		list[i] = validateOne(ctx, deps, p, root, working)
		if problem := unread[p.Name]; problem != "" && !p.Unconfigured {
			list[i].Errors, list[i].OK = append(list[i].Errors, problem), false
		}
		if unseen := uncommitted.Of(p); unseen != "" && list[i].OK {
			list[i].Warnings = append(list[i].Warnings, unseen)
		}
		bad = bad || len(list[i].Errors) > 0
	}
	if err := printValidated(env, list, asJSON); err != nil {
		return err
	}
	if bad {
		return &ExitError{Code: ExitFailed}
	}
	return nil
}

// programsToValidate are the files that were named, else the repository's.
func programsToValidate(env Env, o schedulerOptions, root string, files []string) ([]*program.Program, error) {
	source := memory.Programs{Root: root, Dir: o.Programs, Parse: program.Parse}
	if len(files) == 0 {
		programs, err := source.Load(false)
		if err != nil {
			return nil, misuse.New(err)
		}
		return programs, nil
	}
	var programs []*program.Program
	for _, file := range files {
		found, err := app.FindProgram(env, source, file)
		if err != nil {
			return nil, err
		}
		if _, err := os.Lstat(env.Path(file)); err == nil && found == nil {
			found = source.File(env.Path(file)) // which says why it is no program
		}
		if found == nil {
			all, _ := source.Load(false) // else nothing is near
			return nil, misuse.Errorf("%s does not exist%s", file, app.DidYouMean(file, program.Names(all)))
		}
		programs = append(programs, found)
	}
	return programs, nil
}

// goOn lets programs whose state says a direction go on with it, and says what
// keeps the state of others from being read.
func goOn(ctx context.Context, env Env, repo *git.Repo, programs []*program.Program) (unread map[string]string) {
	if repo == nil {
		return nil
	}
	states, _, err := (&memory.Memory{Repo: repo, Now: env.Now}).States(ctx)
	if err != nil {
		return nil
	}
	unread = map[string]string{}
	for _, p := range programs {
		if problem := goOnAs(p, states); problem != "" {
			unread[p.Name] = problem
		}
	}
	return unread
}

// goOnAs lets a program go on as its state says, and says why that cannot be read.
func goOnAs(p *program.Program, states map[string][]byte) string {
	data, found := states[p.Name]
	machine, _, err := state.ParseMachine(data)
	if err == nil && machine.DirectionGiven {
		p.GoOn(machine.Direction)
	}
	if err == nil || !found {
		return ""
	}
	problem := program.Problem{File: memory.MemoryBranch + ":" + p.Name + ".md", Message: err.Error()}
	var at *state.Problem
	if errors.As(err, &at) {
		problem.Line = at.Line
	}
	return problem.String()
}

// validateOne says what a program does, and what is wrong with it in a checkout
// with these files at root.
func validateOne(ctx context.Context, deps *app.Deps, p *program.Program, root string, files []string) validated {
	refusals := p.Refusals(files, deps.Env.InActions() || deps.GitHub != nil)
	if len(refusals) == 0 {
		refusals = deps.Unfit(ctx, p, root, files)
	}
	v := validated{
		File: p.File, Name: p.Name, Unconfigured: p.Unconfigured, TargetMetric: p.Target, MetricDirection: p.Direction.String(),
		Evaluation: p.Evaluation, Errors: []string{}, Warnings: []string{}, Targets: patternTexts(p.Targets), Protected: patternTexts(p.Protected),
		Schedule: given(p.Schedule.Text), Metric: given(p.Metric), Script: given(p.Script), Prose: patternTexts(p.Prose), placeholder: p.Placeholder,
	}
	v.never = neverChange(p, files)
	for _, problem := range refusals {
		v.Errors = append(v.Errors, problem.String())
	}
	if len(v.Errors) == 0 && !p.Unconfigured {
		v.Warnings = append(v.Warnings, targetWarnings(p, root)...)
		for _, problem := range p.ClosedWarnings() {
			v.Warnings = append(v.Warnings, problem.String())
		}
		if text := p.SharedOutput(); text != "" {
			v.Warnings = append(v.Warnings, text)
		}
	}
	for _, problem := range p.Warnings() {
		v.Warnings = append(v.Warnings, problem.String())
	}
	if interval, ok := p.Schedule.Interval(); ok {
		seconds := int64(interval.Seconds())
		v.IntervalSeconds = &seconds
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
			text += " (at any depth)"
		}
		list = append(list, text)
	}
	for _, pattern := range p.Exceptions {
		if pattern.Outside {
			list = append(list, "everything outside "+pattern.Text)
		}
	}
	matcher := p.Matcher()
	for _, file := range p.Evaluators(func(path string) bool { _, found := slices.BinarySearch(files, path); return found }) {
		if matcher.Allows(file) && !matcher.Literal(file) {
			list = append(list, file+" (the evaluation runs it)")
		}
	}
	return list
}

// targetWarnings finds targets that match nothing as they stand.
func targetWarnings(p *program.Program, root string) []string {
	var warnings []string
	for _, pattern := range p.Targets {
		if strings.ContainsAny(pattern.Text, "*?[{") {
			continue
		}
		kind, directory := kindOf(root, strings.TrimSuffix(pattern.Text, "/")), strings.HasSuffix(pattern.Text, "/")
		var says string
		switch {
		case kind&fs.ModeIrregular != 0:
			says = "there is no `%s` yet"
		case kind.IsDir() && !directory:
			says = "target `%s` is a directory; write it with a slash at its end to mean all its files"
		case !kind.IsDir() && directory:
			says = "target `%s` is no directory"
		default:
			continue
		}
		warnings = append(warnings, program.Problem{File: p.File, Line: pattern.Line, Message: fmt.Sprintf(says, pattern.Text)}.String())
	}
	return warnings
}

// maxWorkingFiles bounds the files of a checkout that are looked at.
const maxWorkingFiles = 200_000

// workingFiles lists the files of a checkout, sorted, also those that are not
// committed yet. What cannot be read is left out.
func workingFiles(root string) []string {
	list := []string{}
	_ = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read names nothing
		case len(list) >= maxWorkingFiles:
			return filepath.SkipAll
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

// kindOf is what stands at a path of the checkout; ModeIrregular for nothing.
func kindOf(root, path string) fs.FileMode {
	local, err := filepath.Localize(path)
	if err != nil {
		return fs.ModeIrregular
	}
	info, err := os.Lstat(filepath.Join(root, local))
	if err != nil {
		return fs.ModeIrregular
	}
	return info.Mode()
}

func patternTexts(patterns []program.Pattern) []string {
	list := make([]string, len(patterns))
	for i, pattern := range patterns {
		list[i] = pattern.Text
	}
	return list
}

func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func printValidated(env Env, list []validated, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(env.Stdout)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(list)
	}
	var out strings.Builder
	if len(list) == 0 {
		out.WriteString("no programs: make one with `scheduler new NAME`\n")
	}
	for _, v := range list {
		v.print(&out)
	}
	_, err := io.WriteString(env.Stdout, out.String())
	return err
}

func (v validated) print(out *strings.Builder) {
	switch {
	case len(v.Errors) > 0:
		fmt.Fprintf(out, "%s: does not run\n", v.File)
	case v.Unconfigured:
		fmt.Fprintf(out, "%s: not configured yet: fill in line %d\n", v.File, v.placeholder)
	default:
		fmt.Fprintf(out, "%s: ok\n", v.File)
	}
	for _, problem := range v.Errors {
		fmt.Fprintf(out, "  error: %s\n", plain.Line(problem))
	}
	for _, problem := range v.Warnings {
		fmt.Fprintf(out, "  warning: %s\n", plain.Line(problem))
	}
	if v.OK {
		v.printPlan(out)
	}
}

// printPlan says in a few lines what the program will do.
func (v validated) printPlan(out *strings.Builder) {
	line := func(name, text string) { fmt.Fprintf(out, "  %-11s %s\n", name, plain.Line(text)) }
	line("schedule", orElse(v.Schedule, "at every tick"))
	metric := orElse(v.Metric, "the only number") + ", " + v.MetricDirection + " is better"
	if v.TargetMetric != nil {
		metric += ", completed at " + v.TargetMetric.String()
	}
	line("metric", metric)
	line("may change", strings.Join(v.Targets, ", "))
	if len(v.never) > 0 {
		line("never", strings.Join(v.never, ", "))
	}
	if len(v.Prose) > 0 {
		line("prose", "taken as prose, since nothing has that name: "+strings.Join(v.Prose, ", "))
	}
	if v.Script == nil {
		line("evaluation", string(v.Evaluation))
		return
	}
	for i, command := range strings.Split(strings.TrimRight(*v.Script, "\n"), "\n") {
		name := ""
		if i == 0 {
			name = "evaluation"
		}
		line(name, command)
	}
}

func orElse(text *string, otherwise string) string {
	if text == nil {
		return otherwise
	}
	return *text
}
