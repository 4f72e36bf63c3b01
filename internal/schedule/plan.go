package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// PlanSchema is the version of autoloop.json.
const PlanSchema = 1

// Plan is what the scheduler decided: the content of autoloop.json. Null is
// for what is missing.
type Plan struct {
	// SchemaVersion is the version of the format.
	SchemaVersion int `json:"schema_version"`
	// GeneratedAt is the time that was looked at, in UTC.
	GeneratedAt time.Time `json:"generated_at"`
	// RepoDir is the repository's directory.
	RepoDir string `json:"repo_dir"`

	// Selected is the program to run; null when none is due.
	Selected *string `json:"selected"`
	// SelectedFile is its file, of an issue a copy in the working directory.
	SelectedFile *string `json:"selected_file"`
	// SelectedIssue is the issue that the program is, or null.
	SelectedIssue *int `json:"selected_issue"`
	// SelectedTargetMetric is its `target-metric`, or null.
	SelectedTargetMetric *metric.Value `json:"selected_target_metric"`
	// SelectedMetricDirection is its `metric_direction`.
	SelectedMetricDirection *string `json:"selected_metric_direction"`
	// StateFileSizeBytes is the size of its state.
	StateFileSizeBytes *int `json:"state_file_size_bytes"`
	// StateFileMaxBytes is the size under which a state is held.
	StateFileMaxBytes int `json:"state_file_max_bytes"`
	// HeadBranch is its branch.
	HeadBranch *string `json:"head_branch"`
	// ExistingPR is its open pull request, or null.
	ExistingPR *int `json:"existing_pr"`

	// IssuePrograms are the numbers of the issues that are programs, by name.
	IssuePrograms map[string]int `json:"issue_programs"`
	// Deferred are the programs that are due and were not selected.
	Deferred []string `json:"deferred"`
	// Skipped are the programs that do not run now.
	Skipped []Skipped `json:"skipped"`
	// Unconfigured are the programs that are still as a template has them.
	Unconfigured []string `json:"unconfigured"`
	// NoPrograms says that the repository has no program.
	NoPrograms bool `json:"no_programs"`
	// NotDue says that there are programs, and that none is due.
	NotDue bool `json:"not_due"`

	// Errors are the programs that cannot run until a person corrects them.
	Errors []Failure `json:"errors"`
	// Warnings are lines for a person.
	Warnings []string `json:"warnings"`
	// Untrusted are the issues that are programs of people who may not write any.
	Untrusted []Untrusted `json:"untrusted"`
	// Matrix is for `strategy.matrix` of a workflow.
	Matrix Matrix `json:"matrix"`

	// Standings are how all programs stand, in the order of their names.
	Standings []*Standing `json:"-"`
	// Reason says in words why the selected program was selected.
	Reason string `json:"-"`

	selected *Standing
}

// Skipped is a program that does not run now.
type Skipped struct {
	// Name is the program's.
	Name string `json:"name"`
	// Reason says why.
	Reason string `json:"reason"`
	// NextDue is when it is due, in UTC; null when no time is known.
	NextDue *time.Time `json:"next_due"`

	standing *Standing
}

// Failure is a program that cannot run until a person fixes it.
type Failure struct {
	// Name is the program's.
	Name string `json:"name"`
	program.Problem
}

// Headline says in a line what was selected, or why nothing was.
func (p *Plan) Headline() string {
	switch {
	case p.Selected != nil:
		return fmt.Sprintf("selected: %s (%s)", *p.Selected, p.Reason)
	case p.NoPrograms:
		return "no programs: make one with `iterate init NAME`"
	case p.Reason != "":
		return "nothing is selected: " + p.Reason
	case len(p.Skipped) == 0 && len(p.Errors)+len(p.Unconfigured) > 0:
		return "nothing can run: every program is in error or not configured yet"
	default:
		return "nothing is due"
	}
}

// Untrusted is an issue program that is not run, and why.
type Untrusted struct {
	// Name is the program's.
	Name string `json:"name"`
	// Issue is its number.
	Issue int `json:"issue"`
	// Reason says why it is not run.
	Reason string `json:"reason"`
}

// Matrix is for strategy.matrix of a workflow.
type Matrix struct {
	// Program are the names of the programs, the most overdue first.
	Program []string `json:"program"`
}

// ForcedError says that the program that was asked for cannot run.
type ForcedError struct {
	// Why is Unconfigured, InError, or "" when there is no such program.
	Why     Condition
	Message string
}

// Error returns the message.
func (e *ForcedError) Error() string { return e.Message }

// Choose decides. The plan is complete also when the error, a *ForcedError,
// says that the forced program cannot run.
func Choose(in Input) (*Plan, error) {
	plan := &Plan{
		SchemaVersion: PlanSchema, GeneratedAt: in.Now.UTC(), RepoDir: in.RepoDir, StateFileMaxBytes: state.MaxBytes,
		IssuePrograms: map[string]int{}, Deferred: []string{}, Skipped: []Skipped{}, Unconfigured: []string{},
		Errors: []Failure{}, Warnings: append(append([]string{}, in.Warnings...), in.Issues.Warnings...),
		Untrusted: append([]Untrusted{}, in.Issues.Untrusted...), Matrix: Matrix{Program: []string{}},
		NoPrograms: len(in.Programs) == 0,
	}
	for _, p := range in.Issues.Programs {
		plan.IssuePrograms[p.Name] = p.Issue
	}
	for _, p := range in.Programs {
		s := in.stand(p)
		if in.All && s.Condition != InError && s.Condition != Unconfigured {
			in.refuse(s)
		}
		s.records = nil // those of thousands of programs would not fit into memory together
		plan.Standings = append(plan.Standings, s)
	}
	slices.SortStableFunc(plan.Standings,
		func(a, b *Standing) int { return strings.Compare(a.Program.Name, b.Program.Name) })
	for _, s := range plan.Standings {
		plan.Warnings = append(plan.Warnings, s.Warnings...)
	}
	var err error
	due := plan.due()
	switch {
	case in.Stopped != "":
		plan.Reason = in.Stopped + ": nothing runs"
		plan.Warnings = append(plan.Warnings, plan.Reason)
	case in.Forced != "":
		err = plan.force(&in)
	default:
		due = slices.DeleteFunc(due, func(s *Standing) bool { return !in.Shard.Has(s.Program.Name) })
		plan.selectDue(&in, due)
	}
	plan.list(due)
	plan.NotDue = in.Stopped == "" && in.Forced == "" && plan.Selected == nil && len(plan.Skipped) > 0
	return plan, err
}

// list says of the programs that were not selected why. Those that are due are in the
// order of selection, all others in that of their names.
func (p *Plan) list(due []*Standing) {
	for _, s := range p.Standings {
		name := s.Program.Name
		switch {
		case s.Condition == Unconfigured:
			p.Unconfigured = append(p.Unconfigured, name)
		case s.Condition == InError:
			for _, problem := range s.Problems {
				problem.Severity = program.Error
				p.Errors = append(p.Errors, Failure{name, problem})
			}
		case s.Condition == Busy && !p.takes(s): // when it was due says nothing of when it runs
			p.Skipped = append(p.Skipped, Skipped{name, s.Skip, nil, s})
		case s.Skip != "" && !p.takes(s):
			p.Skipped = append(p.Skipped, Skipped{name, s.Skip, s.NextDue, s})
		}
	}
	for _, s := range due {
		if s.Due() && !p.takes(s) {
			p.Deferred = append(p.Deferred, s.Program.Name)
		}
	}
}

// takes reports whether a program is selected.
func (p *Plan) takes(s *Standing) bool { return slices.Contains(p.Matrix.Program, s.Program.Name) }

// due returns the programs that are to run, in their order.
func (p *Plan) due() []*Standing {
	due := slices.DeleteFunc(slices.Clone(p.Standings), func(s *Standing) bool { return !s.Due() })
	slices.SortStableFunc(due, before)
	return due
}

// selectDue selects the first programs that can run. One that cannot is in
// error, so that it never keeps another from its turn.
func (p *Plan) selectDue(in *Input, due []*Standing) {
	var selected []*Standing
	rest := 0
	for _, s := range due {
		if len(selected) == max(in.Max, 1) {
			rest++
		} else if !in.refuse(s) {
			selected = append(selected, s)
		}
	}
	if len(selected) > 0 {
		p.take(in, why(selected[0], len(selected)+rest), selected...)
	}
}

// before orders due programs: pending ones, then the most overdue, then the
// shorter interval, then the name.
func before(a, b *Standing) int {
	pending := map[Condition]int{Pending: -1}
	return cmp.Or(pending[a.Condition]-pending[b.Condition], cmp.Compare(b.Lateness, a.Lateness), cmp.Compare(a.Interval, b.Interval),
		strings.Compare(a.Program.Name, b.Program.Name))
}

// take selects programs, of which the first is told more of.
func (p *Plan) take(in *Input, reason string, selected ...*Standing) {
	for _, s := range selected {
		p.Matrix.Program = append(p.Matrix.Program, s.Program.Name)
	}
	s := selected[0]
	name := s.Program.Name
	p.selected = s
	p.Reason, p.Selected, p.HeadBranch = reason, &name, new("autoloop/"+name)
	p.SelectedMetricDirection, p.SelectedTargetMetric = new(s.Program.Direction.String()), s.Program.Target
	if s.Program.File != "" && s.Program.Issue == 0 {
		p.SelectedFile = &s.Program.File
	}
	if issue := cmp.Or(s.Program.Issue, s.Machine.Issue, in.Issues.Linked[name]); issue > 0 {
		p.SelectedIssue = &issue
	}
	if s.Machine.PR > 0 {
		p.ExistingPR = &s.Machine.PR
	}
	if p.StateFileSizeBytes = s.StateSize; s.StateSize == nil {
		return
	}
	if summary := in.summary(s); summary != nil {
		p.SelectedTargetMetric = summary.Target(s.Program.Target) // which a person may have set
	}
}

// force takes one program, whatever its schedule.
func (p *Plan) force(in *Input) error {
	at := slices.IndexFunc(p.Standings, func(s *Standing) bool { return s.Program.Name == in.Forced })
	if at < 0 {
		return p.unknown(in)
	}
	s := p.Standings[at]
	switch s.Condition { //nolint:exhaustive // the others run, unless they are refused
	case Unconfigured:
		return &ForcedError{s.Condition, fmt.Sprintf("program %q is not configured yet: replace the placeholders in %s",
			in.Forced, s.Program.File)}
	case InError:
		return &ForcedError{s.Condition, fmt.Sprintf("program %q has an error: %s", in.Forced, s.Problems[0])}
	case Paused, Completed:
		p.Warnings = append(p.Warnings, fmt.Sprintf("iterate will not run %s: it is %s", in.Forced, s.Skip))
	}
	if in.refuse(s); s.Condition == InError {
		return &ForcedError{s.Condition, fmt.Sprintf("program %q cannot run: %s", in.Forced, s.Problems[0])}
	}
	p.take(in, "asked for by name", s)
	return nil
}

func why(s *Standing, due int) string {
	rest := ""
	if due > 1 {
		rest = fmt.Sprintf(", the most overdue of %d", due)
	}
	switch {
	case s.Condition == Pending:
		return "its last iteration waits for CI" + rest
	case s.Lateness == never:
		return "it never ran" + rest
	case s.Program.Schedule.Text == "":
		return fmt.Sprintf("it last ran %s ago and has no schedule%s", render.Minutes(s.Lateness.Minutes()), rest)
	default:
		return fmt.Sprintf("it is %s late%s", render.Minutes(max(s.Lateness, 0).Minutes()), rest)
	}
}

// Write writes the plan to a file, whole or not at all.
func (p *Plan) Write(file string) error { return files.WriteJSON(file, p) }

// Text says what was selected, and why the others were not, of those that only wait for their
// time the first few; warnings are left out.
func (p *Plan) Text() string {
	var out strings.Builder
	fmt.Fprintln(&out, p.Headline())
	if len(p.Deferred) > 0 {
		fmt.Fprintf(&out, "due later: %s\n", plain.Paths(p.Deferred, plain.Few))
	}
	const most = 20
	waiting := 0
	for _, skipped := range p.Skipped {
		when := ""
		if skipped.Reason == string(NotDue)+" yet" {
			if waiting++; waiting > most {
				continue
			}
			if skipped.NextDue != nil {
				when = " (in " + render.Minutes(skipped.NextDue.Sub(p.GeneratedAt).Minutes()) + ")"
			}
		}
		fmt.Fprintf(&out, "skipped: %s: %s%s\n", skipped.Name, skipped.Reason, when)
	}
	if waiting > most {
		fmt.Fprintf(&out, "skipped: %d more that are not due yet\n", waiting-most)
	}
	for _, name := range p.Unconfigured {
		fmt.Fprintf(&out, "unconfigured: %s: replace its placeholders\n", name)
	}
	for _, failure := range p.Errors {
		fmt.Fprintf(&out, "error: %s: %s\n", failure.Name, failure.Problem)
	}
	return out.String()
}

// Shard is one of several runs that share the programs by their names: every
// program is in exactly one of them. The zero value has all programs.
type Shard struct {
	// Index counts from 1 to Of.
	Index, Of int
}

// Has says whether a program of this name is in the shard.
func (s Shard) Has(name string) bool {
	if s.Of <= 1 {
		return true
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name)) // never fails
	return hash.Sum64()%uint64(s.Of) == uint64(s.Index-1)
}

// unknown says that there is no such program as was asked for, and which was perhaps meant.
func (p *Plan) unknown(in *Input) *ForcedError {
	names := lists.Map(p.Standings, func(s *Standing) string { return s.Program.Name })
	end := cmp.Or(DidYouMean(in.Forced, names), "; there are: "+cmp.Or(plain.Paths(names, plain.Few), "none"))
	if in.Issues.Unread != "" {
		end += "; " + in.Issues.Unread
	}
	name := strings.ToValidUTF8(in.Forced[:min(len(in.Forced), 80)], "")
	return &ForcedError{Message: fmt.Sprintf("there is no program %q%s", name, end)}
}

// DidYouMean is "; did you mean …?" for the name or file of a program that is not there, with
// the name that is nearest; "" when none is.
func DidYouMean(name string, names []string) string {
	stem, names := strings.ToLower(strings.TrimSuffix(filepath.Base(name), ".md")), slices.Sorted(slices.Values(names))
	best := program.Nearest(stem, names, 2)
	longer := func(candidate string) bool { return len(stem) > 2 && strings.Contains(candidate, stem) }
	if at := slices.IndexFunc(names, longer); best == "" && at >= 0 {
		best = names[at]
	}
	if best == "" || best == name {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// Compat puts a plan in the words of the original scheduler: it lists also the
// skipped program that was asked for, and has a size and a direction without one.
func (p *Plan) Compat() {
	if s := p.selected; s != nil && s.Skip != "" {
		p.Skipped = append(p.Skipped, Skipped{s.Program.Name, s.Skip, s.NextDue, s})
	}
	for i, skipped := range p.Skipped {
		switch skipped.standing.Condition { //nolint:exhaustive // the original knows no others
		case Completed:
			p.Skipped[i].Reason = "completed: target metric reached"
		case Paused:
			p.Skipped[i].Reason = "paused: " + cmp.Or(skipped.standing.Machine.PauseReason, "None")
		case Plateau:
			p.Skipped[i].Reason = "plateau: 5 consecutive rejections"
		}
	}
	p.StateFileSizeBytes = cmp.Or(p.StateFileSizeBytes, new(0))
	p.SelectedMetricDirection = cmp.Or(p.SelectedMetricDirection, new(metric.Higher.String()))
}

// compatList is a list as Python prints it.
func compatList(names []string) string {
	if len(names) == 0 {
		return "(none)"
	}
	return "['" + strings.Join(names, "', '") + "']"
}

// CompatText is what callers of the original scheduler read, and whether it would
// have failed. Forced is the error of Choose.
func (p *Plan) CompatText(in Input, forced error) (text string, failed bool) {
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	for _, warning := range p.Warnings {
		say("  Warning: %s", plain.Line(warning))
	}
	if p.NoPrograms {
		say("NO_PROGRAMS_FOUND")
		return out.String(), false
	}
	names, skipped := make([]string, 0, len(p.Standings)), make([]string, 0, len(p.Skipped))
	for _, s := range p.Standings {
		names = append(names, s.Program.Name)
		switch {
		case s.Condition == Unconfigured: // its state is not looked at
		case s.StateSize != nil:
			last := "None"
			if s.Machine.LastRun != nil {
				last = s.Machine.LastRun.Format(time.RFC3339)
			}
			say("  %s: last_run=%s, iteration_count=%d", s.Program.Name, last, s.Machine.IterationCount)
		default:
			say("  %s: no state file found (first run)", s.Program.Name)
			say("  %s: no state found (first run)", s.Program.Name)
		}
	}
	for _, s := range p.Skipped {
		skipped = append(skipped, s.Name)
	}
	for _, failure := range p.Errors {
		say("  Warning: %s: %s", failure.Name, failure.Problem)
	}
	if bad, ok := errors.AsType[*ForcedError](forced); ok {
		switch bad.Why { //nolint:exhaustive // the others have the words of this scheduler
		case "":
			say("requested program '%s' not found", plain.Line(in.Forced))
			say("ERROR: requested program '%s' not found. Available programs: %s", plain.Line(in.Forced),
				compatList(names))
		case Unconfigured:
			say("ERROR: requested program '%s' is unconfigured (has placeholders).", in.Forced)
		}
		return out.String(), true
	}
	if in.Forced != "" && p.Selected != nil {
		say("FORCED: running program '%s' (manual dispatch)", *p.Selected)
	}
	selected, file := "(none)", "n/a"
	if p.Selected != nil {
		selected = *p.Selected
	}
	if p.SelectedFile != nil {
		file = *p.SelectedFile
	}
	say("=== Autoloop Program Check ===")
	say("Selected program:      %s (%s)", selected, file)
	say("Deferred (next run):   %s", compatList(p.Deferred))
	say("Programs skipped:      %s", compatList(skipped))
	say("Programs unconfigured: %s", compatList(p.Unconfigured))
	if p.Selected == nil && len(p.Unconfigured) == 0 {
		say("\nNo programs due this run. Exiting early.")
		return out.String(), true
	}
	return out.String(), false
}
