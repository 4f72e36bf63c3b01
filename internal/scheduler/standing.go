// Package scheduler decides which programs are due and in which order, from
// program files, their states and the time that it is given.
package scheduler

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/org/autoloop/internal/ledger"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/state"
)

// grace is how long before its time a program is due: a schedule of six hours
// on a six-hourly tick would otherwise run every twelve.
const grace = 5 * time.Minute

// never is the lateness of a program that has not run yet.
const never = time.Duration(math.MaxInt64)

// Input is all that scheduling looks at.
type Input struct {
	Programs []*program.Program
	// States are the state files by program name.
	States map[string][]byte
	// Ledger reads a program's ledger; it is asked only where a decision needs
	// it, for budgets and plateaus. Nil is no ledger.
	Ledger func(name string) ([]byte, error)
	Now    time.Time
	// Forced names the one program to run, whatever its schedule; "" for none.
	Forced string
	// Max bounds the programs in the matrix; below 1 counts as 1.
	Max int
	// Paused stops everything.
	Paused bool
	// Warnings are those of reading the rest, to be passed on.
	Warnings []string
	// RepoDir is the absolute root of the repository, for the record.
	RepoDir string
}

// Standing is how one program stands at this moment.
type Standing struct {
	Program *program.Program
	Machine state.Machine
	// HasState says that there is a state file, StateSize its length.
	HasState  bool
	StateSize int
	// Problems are errors of program and state: it does not run.
	Problems []program.Problem
	Warnings []string
	// LastRun is nil when it never ran or that is unknown; NextDue is nil when
	// it is due at once or never by itself.
	LastRun, NextDue *time.Time
	// Lateness is the time since it was due, negative before.
	Lateness time.Duration
	// Skip is why it does not run now; "" when it is due.
	Skip string
	// Pending says that the last iteration waits for CI.
	Pending bool
}

// Due reports whether the program is to run now.
func (s *Standing) Due() bool {
	return s.Skip == "" && len(s.Problems) == 0 && !s.Program.Unconfigured
}

// interval orders programs that are equally late.
func (s *Standing) interval() time.Duration {
	if interval, ok := s.Program.Schedule.Interval(); ok {
		return interval
	}
	return 0
}

// stand finds out how a program stands.
func (in *Input) stand(p *program.Program) *Standing {
	s := &Standing{Program: p}
	data, found := in.States[p.Name]
	if found {
		s.HasState, s.StateSize = true, len(data)
		p.Excuse()
		in.readState(s, data)
	}
	s.Problems = append(s.Problems, p.Errors()...)
	for _, warning := range p.Warnings() {
		s.Warnings = append(s.Warnings, warning.String())
	}
	if len(s.Problems) > 0 || p.Unconfigured {
		return s
	}
	s.Pending = s.Machine.Pending()
	in.time(s)
	s.Skip = in.skip(s)
	return s
}

func (in *Input) readState(s *Standing, data []byte) {
	machine, warnings, err := state.ParseMachine(data)
	file := s.Program.Name + ".md"
	for _, warning := range warnings {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s:%d: %s", file, warning.Line, warning.Message))
	}
	s.Machine = machine
	if err == nil {
		return
	}
	problem := program.Problem{File: file, Severity: program.Error, Message: err.Error()}
	var at *state.Problem
	if errors.As(err, &at) {
		problem.Line, problem.Message = at.Line, at.Message
	}
	s.Problems = append(s.Problems, problem)
}

// time fills in last run, next due and lateness.
func (in *Input) time(s *Standing) {
	last := s.Machine.LastRun
	if last != nil && last.Sub(in.Now) > grace {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s: last run %s is in the future and counts as unknown", s.Program.Name, last.Format(time.RFC3339)))
		last = nil
	}
	s.LastRun = last
	if last == nil {
		s.Lateness = never
		return
	}
	due := s.Program.Schedule.Next(*last).UTC()
	s.NextDue = &due
	s.Lateness = in.Now.Sub(due)
}

// skip says why a program does not run now, in the order in which a person
// wants to know.
func (in *Input) skip(s *Standing) string {
	m := s.Machine
	switch {
	case m.Completed:
		return "completed: " + or(m.CompletedReason, "its target is reached") + "; set Completed to false in its state to go on"
	case m.Paused:
		return "paused: " + or(m.PauseReason, "by hand") + "; set Paused to false in its state to go on"
	}
	if reason := in.overBudget(s); reason != "" {
		return reason
	}
	if s.Pending {
		return ""
	}
	if in.onPlateau(s) {
		return fmt.Sprintf("plateau: the last %d iterations were rejected; change its goal or target, then run it with --program %s", s.Program.Plateau, s.Program.Name)
	}
	if s.NextDue != nil && in.Now.Before(s.NextDue.Add(-grace)) {
		return "not due yet: next at " + s.NextDue.Format(time.RFC3339)
	}
	return ""
}

// onPlateau looks at the statuses, and at the ledger for whether a person has
// resumed the program since.
func (in *Input) onPlateau(s *Standing) bool {
	limit := s.Program.Plateau
	if !s.Machine.Plateau(min(limit, state.MaxStatuses)) {
		return false
	}
	books, ok := in.books(s.Program.Name)
	if !ok {
		return limit <= state.MaxStatuses
	}
	if books.PausedReason != "" {
		return false // the state says that it is not paused: a person resumed it
	}
	return books.Trailing(ledger.Rejected) >= limit
}

func (in *Input) overBudget(s *Standing) string {
	budget := s.Program.Budget
	if !budget.Given() {
		return ""
	}
	books, ok := in.books(s.Program.Name)
	if !ok {
		return ""
	}
	from, until := period(in.Now, budget.Per)
	spent := books.Spent(from)
	over := ""
	switch {
	case budget.Iterations > 0 && spent.Iterations >= budget.Iterations:
		over = fmt.Sprintf("%d of %d iterations", spent.Iterations, budget.Iterations)
	case budget.Tokens > 0 && spent.Tokens >= budget.Tokens:
		over = fmt.Sprintf("%d of %d tokens", spent.Tokens, budget.Tokens)
	case budget.USD > 0 && spent.USD >= budget.USD:
		over = fmt.Sprintf("%.2f of %.2f USD", spent.USD, budget.USD)
	case budget.Minutes > 0 && spent.Minutes >= budget.Minutes:
		over = fmt.Sprintf("%.0f of %.0f minutes", spent.Minutes, budget.Minutes)
	case s.Program.UnknownCost == "pause" && spent.Unknown > 0 && (budget.USD > 0 || budget.Tokens > 0):
		over = fmt.Sprintf("%d iterations of unknown cost (unknown-cost: pause)", spent.Unknown)
	default:
		return ""
	}
	return fmt.Sprintf("budget: %s used this %s; it resumes at %s", over, budget.Per, until.Format(time.RFC3339))
}

// period is the calendar day, week (from Monday) or month of now, in UTC.
func period(now time.Time, per string) (from, until time.Time) {
	now = now.UTC()
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	switch per {
	case "day":
		return day, day.AddDate(0, 0, 1)
	case "week":
		monday := day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
		return monday, monday.AddDate(0, 0, 7)
	default:
		first := day.AddDate(0, 0, 1-day.Day())
		return first, first.AddDate(0, 1, 0)
	}
}

func (in *Input) books(name string) (ledger.Books, bool) {
	if in.Ledger == nil {
		return ledger.Books{}, false
	}
	data, err := in.Ledger(name)
	if err != nil || len(data) == 0 {
		return ledger.Books{}, false
	}
	log, err := ledger.Parse(data)
	if err != nil {
		return ledger.Books{}, false
	}
	return ledger.Replay(log.Events), true
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
