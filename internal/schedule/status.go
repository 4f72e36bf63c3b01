// Package schedule decides which programs are due and in which order, from
// program files, their states and the time that it is given.
package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// Grace is how long before its time a program is due: a schedule of six hours
// on a six-hourly tick would otherwise run every twelve.
const Grace = 5 * time.Minute

// never is the lateness of a program that has not run yet.
const never = time.Duration(math.MaxInt64)

// Condition is how a program stands, in one word.
type Condition string

// The conditions. Those of a program that is skipped are in the order in which
// they are looked at.
const (
	Due          Condition = "due"
	Pending      Condition = "pending"
	Completed    Condition = "completed"
	Paused       Condition = "paused"
	OverBudget   Condition = "budget"
	Plateau      Condition = "plateau"
	NotDue       Condition = "not due"
	Busy         Condition = "busy"
	Unconfigured Condition = "unconfigured"
	InError      Condition = "error"
)

// Input is all that scheduling looks at.
type Input struct {
	Programs []*program.Program
	// States are the state files by program name.
	States map[string][]byte
	// Unreadable says why a program's state file could not be read; such a
	// program is in error.
	Unreadable map[string]error
	// Branch is the branch that states and ledgers are from, "" when they are files.
	Branch string
	// Ledger reads a program's ledger; it is asked only where a decision needs
	// it, for budgets and plateaus. Nil is no ledger.
	Ledger func(name string) (*history.Log, error)
	Now    time.Time
	// Forced names the one program to run, whatever its schedule; "" for none.
	Forced string
	// Max bounds the programs in the matrix; below 1 counts as 1.
	Max int
	// Shard limits what is selected; a forced program is run whatever it says.
	Shard Shard
	// Stopped says why nothing may run, "" when it may.
	Stopped string
	// Refusals says why a program that is otherwise due cannot run, by what only a
	// look at the whole file and the repository shows. It is asked in the order of
	// selection, and of as many as are needed. Nil
	// refuses nothing.
	Refusals func(s *Standing) []program.Problem
	// Alive reports whether the run that holds a lease may still work; nil leaves
	// leases to the iteration.
	Alive func(history.Lease) bool
	// All asks Refusals of every program, due or not.
	All bool
	// Warnings are those of reading the rest, to be passed on.
	Warnings []string
	// Issues are what discovery found; its programs are among Programs already.
	Issues Discovery
	// RepoDir is the absolute root of the repository, for the record.
	RepoDir string
}

// Standing is how one program stands at this moment.
type Standing struct {
	Program *program.Program
	Machine state.Machine
	// StateSize is the size of its state file in bytes, nil without a file.
	StateSize *int
	// Problems are errors of program and state: it does not run.
	Problems []program.Problem
	Warnings []string
	// LastRun is nil when it never ran or that is unknown; NextDue is nil when
	// it is due at every tick or never by itself.
	LastRun, NextDue *time.Time
	// Lateness is the time since it was due, negative before.
	Lateness time.Duration
	// Interval is the time between runs; for cron that between the next two
	// ticks, and 0 without a schedule.
	Interval time.Duration
	// Condition is what it is in one word.
	Condition Condition
	// Skip is why it does not run now; "" when it is due.
	Skip string

	records *history.Summary // once they were read
	// unordered says that nothing shows which way round the statuses are.
	unordered bool
}

// Due reports whether the program is to run now.
func (s *Standing) Due() bool { return s.Condition == Due || s.Condition == Pending }

// Recorded reports whether there is a ledger, of those whose ledger was read.
func (s *Standing) Recorded() bool { return s.records != nil }

// place is where people find a file of the memory.
func (in *Input) place(file string) string {
	if in.Branch == "" {
		return file
	}
	return in.Branch + ":" + file
}

func (s *Standing) fail(file string, line int, message string) {
	problem := program.Problem{File: file, Line: line, Severity: program.Error, Message: message}
	if !slices.Contains(s.Problems, problem) {
		s.Problems = append(s.Problems, problem)
	}
}

// refuse reports whether a due program cannot run after all: its ledger cannot
// be read, another run works on it, its budget is used up, or Refusals says why. It
// sets the condition.
func (in *Input) refuse(s *Standing) bool {
	if s.StateSize != nil && in.Alive != nil && in.summary(s) != nil {
		if open := s.records.Open; open != nil && open.Lease != nil && in.Now.Before(open.Lease.Until) &&
			in.Alive(*open.Lease) {
			s.Condition = Busy
			s.Skip = fmt.Sprintf("busy: run %s works on it until %s at the latest", open.Run,
				open.Lease.Until.Format(time.RFC3339))
			return true
		}
	}
	if s.Condition == Due && in.Forced == "" && len(s.Problems) == 0 {
		if reason := in.overBudget(s); reason != "" {
			s.Condition, s.Skip = OverBudget, reason
			return true
		}
	}
	if in.Refusals != nil && len(s.Problems) == 0 {
		s.Problems = in.Refusals(s)
	}
	if len(s.Problems) == 0 {
		return false
	}
	s.Condition, s.Skip = InError, ""
	return true
}

// Read reads the state of a program, which goes on in the direction that it says; what is wrong with the
// state is in Problems.
func (in *Input) Read(p *program.Program) *Standing {
	s, file := &Standing{Program: p}, in.place(p.Name+".md")
	if data, found := in.States[p.Name]; found {
		machine, warnings, err := state.ParseMachine(data)
		for _, warning := range warnings {
			s.Warnings = append(s.Warnings,
				program.Problem{File: file, Line: warning.Line, Message: warning.Message}.String())
		}
		if len(data) > state.MaxBytes {
			s.Warnings = append(s.Warnings,
				fmt.Sprintf("%s: it has %d bytes, more than %d; shorten the sections that people write", file, len(data),
					state.MaxBytes))
		}
		s.StateSize, s.Machine = new(len(data)), machine
		if at, is := errors.AsType[*state.Problem](err); is {
			s.fail(file, at.Line, at.Message)
		} else if machine.DirectionGiven {
			p.GoOn(machine.Direction)
		}
	}
	if err := in.Unreadable[p.Name]; err != nil {
		s.fail(file, 0, err.Error())
	}
	return s
}

func (in *Input) stand(p *program.Program) *Standing {
	s := in.Read(p)
	s.Problems = append(s.Problems, p.Errors()...)
	switch {
	case p.Unconfigured:
		s.Condition, s.Problems = Unconfigured, nil
	case len(s.Problems) == 0:
		in.time(s)
		s.Condition, s.Skip = in.judge(s)
	}
	if len(s.Problems) > 0 {
		s.Condition, s.Skip = InError, ""
	}
	// What a program does that goes on as its state says is of interest while it does: not once
	// it is paused or completed.
	resting := s.Condition == Paused || s.Condition == Completed
	for _, warning := range p.Warnings() {
		if !resting || !warning.Contradiction {
			s.Warnings = append(s.Warnings, warning.String())
		}
	}
	return s
}

// time fills in last run, next due, interval and lateness.
func (in *Input) time(s *Standing) {
	schedule, last := s.Program.Schedule, s.Machine.LastRun
	if s.Interval, _ = schedule.Interval(); schedule.IsCron() {
		first := schedule.Next(in.Now)
		s.Interval = max(schedule.Next(first).Sub(first), 0)
	}
	if last != nil && last.Sub(in.Now) > Grace {
		s.Warnings = append(s.Warnings,
			fmt.Sprintf("%s: last run %s is in the future and counts as unknown", s.Program.Name,
				last.Format(time.RFC3339)))
		last = nil
	}
	s.LastRun = last
	if last == nil {
		s.Lateness = never
		return
	}
	due := schedule.Next(*last).UTC()
	if due.Year() <= 1 { // a cron line without another tick
		s.Lateness = -never
		return
	}
	if schedule.Text != "" {
		s.NextDue = &due
	}
	s.Lateness = in.Now.Sub(due)
}

// judge applies the rules in their order; the first that holds decides. It
// returns why the program does not run now, "" when it is to run.
func (in *Input) judge(s *Standing) (Condition, string) {
	switch m := s.Machine; {
	case m.Completed:
		return Completed, m.Stopped(s.Program.Name)
	case m.Paused:
		return Paused, m.Stopped(s.Program.Name)
	}
	in.settle(s)
	switch m := s.Machine; {
	case m.Pending():
		return Pending, ""
	case m.NotBefore != nil && budget.Waits(*m.NotBefore, in.Now):
		s.NextDue = m.NotBefore
		return Paused, fmt.Sprintf("paused: the agent's service has a rate limit; it resumes at %s",
			m.NotBefore.Format(time.RFC3339))
	}
	if in.All { // else budgets are looked at in the order of selection, see refuse
		if reason := in.overBudget(s); reason != "" {
			return OverBudget, reason
		}
	}
	if limit := in.onPlateau(s); limit > 0 {
		what := fmt.Sprintf("the last %d iterations kept nothing", limit)
		if s.unordered {
			what = fmt.Sprintf("Recent Statuses end with %d rejections", limit)
		}
		return Plateau, fmt.Sprintf("plateau: %s; change its goal or target, then run it with --program %s", what,
			s.Program.Name)
	}
	if s.Lateness < -Grace {
		return NotDue, "not due yet"
	}
	return Due, ""
}

// settle puts the statuses of a state without a ledger into their order, where
// something depends on it.
func (in *Input) settle(s *Standing) {
	turned := s.Machine
	turned.RecentStatuses = slices.Clone(turned.RecentStatuses)
	slices.Reverse(turned.RecentStatuses)
	if s.Machine.Pending() == turned.Pending() && plateau(s.Program, s.Machine) == plateau(s.Program, turned) {
		return
	}
	if in.summary(s) == nil {
		var known bool
		s.Machine.RecentStatuses, known = state.OldestFirst(in.States[s.Program.Name])
		s.unordered = !known
	}
}

// plateau says whether a state has as many rejections last as may be a plateau, as far as statuses go back.
func plateau(p *program.Program, m state.Machine) bool {
	fewest, last := min(p.Plateau, p.PlateauFor(p.Agent), state.MaxStatuses), m.RecentStatuses
	return fewest > 0 && len(last) >= fewest && !slices.ContainsFunc(last[len(last)-fewest:],
		func(status string) bool { return status != string(state.Rejected) })
}

// onPlateau looks at the statuses, and at the ledger for whether a person has
// resumed the program since, and who proposed: a search has more patience. It
// returns the limit that is reached, 0 when none is.
func (in *Input) onPlateau(s *Standing) int {
	limit := s.Program.PlateauFor(s.Program.Agent)
	if !plateau(s.Program, s.Machine) {
		return 0
	}
	summary := in.summary(s)
	if summary == nil {
		if limit <= state.MaxStatuses {
			return limit
		}
		return 0
	}
	if summary.Paused != nil {
		return 0 // the state says that it is not paused: a person resumed it
	}
	if last := len(summary.Attempts) - 1; last >= 0 {
		limit = s.Program.PlateauFor(summary.Attempts[last].Agent)
	}
	if limit == 0 || summary.Dropped() < limit {
		return 0
	}
	return limit
}

// overBudget says which budget is used up; "" when none is.
func (in *Input) overBudget(s *Standing) string {
	if len(s.Program.Budgets) == 0 || s.StateSize == nil || in.summary(s) == nil {
		return ""
	}
	summary := s.records.WithoutOpen()
	stand := budget.Stand(s.Program, &summary, in.Now)
	if stand.Over == "" {
		return ""
	}
	if !stand.Until.IsZero() {
		s.NextDue = &stand.Until
	}
	return stand.Reason()
}

// summary adds the program's ledger up; nil without a ledger. A ledger that cannot be read is
// an error of the program.
func (in *Input) summary(s *Standing) *history.Summary {
	if s.records != nil || in.Ledger == nil {
		return s.records
	}
	log, err := in.Ledger(s.Program.Name)
	switch {
	case err != nil:
		s.fail(in.place(s.Program.Name+".iterations"), 0, err.Error())
	case log != nil && len(log.Events) > 0:
		s.records = new(log.Summary())
	}
	return s.records
}

// Stopped says why a value of AUTOLOOP_PAUSED stops everything, "" when it does
// not. A value that is neither a yes nor a no stops too: somebody meant something
// by it.
func Stopped(value string) string {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", "false", "0", "no", "off", "n":
		return ""
	case "true", "1", "yes", "on", "y":
		return "AUTOLOOP_PAUSED is " + strings.ToLower(strings.TrimSpace(value))
	}
	return fmt.Sprintf("AUTOLOOP_PAUSED is %q, which is neither true nor false (set it to one of them)",
		plain.Short(value, 40))
}

// Status is how a program stands, for people and for `iterate status --json`.
type Status struct {
	Name            string        `json:"name"`
	File            string        `json:"file"`
	State           string        `json:"state"`
	Reason          string        `json:"reason"`
	LastRun         *time.Time    `json:"last_run"`
	NextDue         *time.Time    `json:"next_due"`
	LatenessSeconds *int64        `json:"lateness_seconds"`
	Iterations      int           `json:"iterations"`
	Best            *metric.Value `json:"best_metric"`
	Target          *metric.Value `json:"target_metric"`
	Direction       string        `json:"metric_direction"`
	PR              *int          `json:"pr"`
	Issue           *int          `json:"issue"`
	PRURL           string        `json:"pr_url,omitempty"`
	IssueURL        string        `json:"issue_url,omitempty"`
}

// Status is how a program stands, with the pages on GitHub below the repository's; "" for
// no repository.
func (s *Standing) Status(page string) Status {
	out := Status{
		Name: s.Program.Name, File: s.Program.File, LastRun: s.LastRun, NextDue: s.NextDue,
		Iterations: s.Machine.IterationCount,
		Best:       s.Machine.BestMetric, Target: s.Program.Target, Direction: s.Program.Direction.String(),
		Reason: s.Skip,
		State:  string(s.Condition),
	}
	if s.LastRun != nil {
		seconds := int64(s.Lateness.Seconds())
		out.LatenessSeconds = &seconds
	}
	if s.Machine.PR > 0 {
		out.PR = &s.Machine.PR
		out.PRURL = render.PageOf(page, "/pull/", s.Machine.PR)
	}
	if issue := max(s.Machine.Issue, s.Program.Issue); issue > 0 {
		out.Issue = &issue
		out.IssueURL = render.PageOf(page, "/issues/", issue)
	}
	switch s.Condition { //nolint:exhaustive // the others are words already
	case InError:
		out.Reason = s.Problems[0].String()
	case Unconfigured:
		out.Reason = "replace the placeholders in " + s.Program.File
	case NotDue:
		out.State = "waiting"
	case Due:
		if s.LastRun == nil {
			out.Reason = "it never ran"
		}
	}
	return out
}

// StatusTable has every reason whole, with the address of the program's page on
// GitHub when that is known.
func StatusTable(list []Status, now time.Time) render.Table {
	table := render.Table{
		Header: []string{"program", "state", "runs", "last run", "next due", "late", "best", "target", "reason"},
		Align:  "llrllrrr",
	}
	for _, s := range list {
		late := "—"
		if s.LatenessSeconds != nil && *s.LatenessSeconds > 0 {
			late = render.Minutes(float64(*s.LatenessSeconds) / 60)
		}
		table.Rows = append(table.Rows, []string{
			s.Name, s.State, fmt.Sprint(s.Iterations), when(s.LastRun, now), when(s.NextDue, now), late,
			render.Figure(s.Best, s.Target), render.Target(s.Target, s.Best, s.Direction),
			plain.Line(strings.TrimSpace(s.Reason + " " + cmp.Or(s.PRURL, s.IssueURL))),
		})
	}
	return table
}

func when(t *time.Time, now time.Time) string {
	if t == nil {
		return "—"
	}
	if t.Year() == now.Year() {
		return t.UTC().Format("01-02 15:04")
	}
	return t.UTC().Format("2006-01-02 15:04")
}
