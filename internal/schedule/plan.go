package schedule

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
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

	linked map[string]int // own issues of file programs
}

// Skipped is a program that does not run now.
type Skipped struct {
	// Name is the program's.
	Name string `json:"name"`
	// Reason says why.
	Reason string `json:"reason"`
	// NextDue is when it is due, in UTC; null when no time is known.
	NextDue *time.Time `json:"next_due"`
}

// Failure is a program that cannot run until a person fixes it.
type Failure struct {
	// Name is the program's.
	Name string `json:"name"`
	// File is its file, or the address of its issue.
	File string `json:"file"`
	// Line is where in the file, from 1; 0 is no line.
	Line int `json:"line"`
	// Message says what is wrong.
	Message string `json:"message"`
}

// Place is the failure with its file and line.
func (f Failure) Place() string {
	return program.Problem{File: f.File, Line: f.Line, Message: f.Message}.String()
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

// HasWork reports whether a program is to run.
func (p *Plan) HasWork() bool { return p.Selected != nil }

// ForcedError says that the program that was asked for cannot run.
type ForcedError struct {
	Name string
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
		Errors: []Failure{}, Warnings: []string{}, Untrusted: []Untrusted{}, Matrix: Matrix{Program: []string{}},
		NoPrograms: len(in.Programs) == 0,
	}
	plan.Warnings = append(append(plan.Warnings, in.Warnings...), in.Issues.Warnings...)
	plan.Untrusted = append(plan.Untrusted, in.Issues.Untrusted...)
	maps.Copy(plan.IssuePrograms, in.Issues.Numbers)
	plan.linked = in.Issues.Linked
	plan.Standings = make([]*Standing, len(in.Programs))
	parallel(len(in.Programs), func(i int) {
		s := in.stand(in.Programs[i])
		if in.All && s.Condition != InError && s.Condition != Unconfigured {
			in.refuse(s)
		}
		s.records = nil // those of thousands of programs would not fit into memory together
		plan.Standings[i] = s
	})
	slices.SortStableFunc(plan.Standings,
		func(a, b *Standing) int { return strings.Compare(a.Program.Name, b.Program.Name) })
	for _, s := range plan.Standings {
		plan.list(s)
	}
	due := plan.due()
	if in.Stopped != "" {
		plan.Reason = in.Stopped + ": nothing runs"
		plan.Warnings = append(plan.Warnings, plan.Reason)
		plan.deferAll(due)
		return plan, nil
	}
	if in.Forced != "" {
		err := plan.force(&in)
		in.retarget(plan)
		plan.deferAll(slices.DeleteFunc(due, func(s *Standing) bool { return s.Program.Name == in.Forced }))
		return plan, err
	}
	mine := slices.DeleteFunc(slices.Clone(due), func(s *Standing) bool { return !in.Shard.Has(s.Program.Name) })
	plan.selectDue(&in, mine)
	in.retarget(plan)
	return plan, nil
}

// retarget gives the selected program the target that a person set for it.
func (in *Input) retarget(plan *Plan) {
	for _, s := range plan.Standings {
		if plan.Selected == nil || s.Program.Name != *plan.Selected || !s.HasState {
			continue
		}
		if summary, found := in.summary(s); found {
			plan.SelectedTargetMetric = summary.Target(s.Program.Target)
		}
	}
}

// parallel calls work for 0 … n-1 on all processors.
func parallel(n int, work func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := n * worker / workers; i < n*(worker+1)/workers; i++ {
				work(i)
			}
		})
	}
	group.Wait()
}

func (p *Plan) list(s *Standing) {
	name := s.Program.Name
	p.listProblems(s)
	p.Warnings = append(p.Warnings, s.Warnings...)
	switch {
	case s.Condition == Unconfigured:
		p.Unconfigured = append(p.Unconfigured, name)
	case s.Skip != "":
		p.Skipped = append(p.Skipped, Skipped{Name: name, Reason: s.Skip, NextDue: s.NextDue})
	}
}

// listProblems lists why a program is in error, in the order of the names.
func (p *Plan) listProblems(s *Standing) {
	for _, problem := range s.Problems {
		p.Errors = append(p.Errors, Failure{
			Name: s.Program.Name, File: problem.File, Line: problem.Line,
			Message: problem.Message,
		})
	}
	slices.SortStableFunc(p.Errors, func(a, b Failure) int { return strings.Compare(a.Name, b.Name) })
}

func (p *Plan) listRefused(s *Standing) {
	if s.Condition == InError {
		p.listProblems(s)
		return
	}
	p.Skipped = append(p.Skipped, Skipped{Name: s.Program.Name, Reason: s.Skip})
	if s.Condition == OverBudget {
		p.Skipped[len(p.Skipped)-1].NextDue = s.NextDue
	}
	slices.SortStableFunc(p.Skipped, func(a, b Skipped) int { return strings.Compare(a.Name, b.Name) })
}

// due returns the programs that are to run, in their order.
func (p *Plan) due() []*Standing {
	var due []*Standing
	for _, s := range p.Standings {
		if s.Due() {
			due = append(due, s)
		}
	}
	slices.SortStableFunc(due, before)
	return due
}

func (p *Plan) deferAll(due []*Standing) {
	for _, s := range due {
		p.Deferred = append(p.Deferred, s.Program.Name)
	}
}

// selectDue selects the first programs that can run. One that cannot is in
// error, so that it never keeps another from its turn.
func (p *Plan) selectDue(in *Input, due []*Standing) {
	most := max(in.Max, 1)
	var selected, rest []*Standing
	for i, s := range due {
		if len(selected) == most {
			rest = due[i:]
			break
		}
		if in.refuse(s) {
			p.listRefused(s)
			continue
		}
		selected = append(selected, s)
	}
	if len(selected) == 0 {
		p.NotDue = len(p.Skipped) > 0
		return
	}
	p.take(selected[0])
	p.Reason = why(selected[0], len(selected)+len(rest))
	for _, s := range selected {
		p.Matrix.Program = append(p.Matrix.Program, s.Program.Name)
	}
	p.deferAll(rest)
}

// before orders due programs: pending ones, then the most overdue, then the
// shorter interval, then the name.
func before(a, b *Standing) int {
	if a.Pending != b.Pending {
		if a.Pending {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(b.Lateness, a.Lateness), cmp.Compare(a.Interval, b.Interval),
		strings.Compare(a.Program.Name, b.Program.Name))
}

func (p *Plan) take(s *Standing) {
	name, branch, direction := s.Program.Name, "autoloop/"+s.Program.Name, s.Program.Direction.String()
	p.Selected, p.HeadBranch, p.SelectedMetricDirection = &name, &branch, &direction
	p.SelectedTargetMetric = s.Program.Target
	if s.Program.File != "" && s.Program.Issue == 0 {
		file := s.Program.File
		p.SelectedFile = &file
	}
	if issue := cmp.Or(s.Program.Issue, s.Machine.Issue, p.linked[name]); issue > 0 {
		p.SelectedIssue = &issue
	}
	if pr := s.Machine.PR; pr > 0 {
		p.ExistingPR = &pr
	}
	if s.HasState {
		size := s.StateSize
		p.StateFileSizeBytes = &size
	}
}

// force takes one program, whatever its schedule.
func (p *Plan) force(in *Input) error {
	name := in.Forced
	for _, s := range p.Standings {
		if s.Program.Name != name {
			continue
		}
		switch {
		case s.Condition == Unconfigured:
			return &ForcedError{
				name, Unconfigured,
				fmt.Sprintf("program %q is not configured yet: replace the placeholders in %s", name, s.Program.File),
			}
		case len(s.Problems) > 0:
			return &ForcedError{name, InError, fmt.Sprintf("program %q has an error: %s", name, s.Problems[0])}
		}
		if in.refuse(s) && s.Condition == InError {
			p.listProblems(s)
			return &ForcedError{name, InError, fmt.Sprintf("program %q cannot run: %s", name, s.Problems[0])}
		}
		if s.Condition == Paused || s.Condition == Completed {
			p.Warnings = append(p.Warnings, fmt.Sprintf("iterate will not run %s: it is %s", name, s.Skip))
		}
		p.take(s)
		p.Reason = "asked for by name"
		p.Matrix.Program = []string{name}
		p.Skipped = slices.DeleteFunc(p.Skipped, func(skipped Skipped) bool { return skipped.Name == name })
		return nil
	}
	unknown := p.unknown(name)
	if in.Issues.Unread != "" {
		unknown.Message += "; " + in.Issues.Unread
	}
	return unknown
}

func why(s *Standing, due int) string {
	rest := ""
	if due > 1 {
		rest = fmt.Sprintf(", the most overdue of %d", due)
	}
	switch {
	case s.Pending:
		return "its last iteration waits for CI" + rest
	case s.Lateness == never:
		return "it never ran" + rest
	case s.Program.Schedule.Text == "":
		return fmt.Sprintf("it last ran %s ago and has no schedule%s", Round(s.Lateness), rest)
	default:
		return fmt.Sprintf("it is %s late%s", Round(max(s.Lateness, 0)), rest)
	}
}

// Round shortens a duration for people: 3d4h, 2h5m, 40s.
func Round(d time.Duration) string {
	switch {
	case d < time.Minute:
		return d.Round(time.Second).String()
	case d < 24*time.Hour:
		return strings.TrimSuffix(strings.TrimSuffix(d.Round(time.Minute).String(), "0s"), "0m")
	default:
		return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
	}
}
