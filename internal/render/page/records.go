package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
)

// Source is what is known of a program.
type Source struct {
	Name string
	// Events is the ledger, State the state file.
	Events []history.Event
	State  []byte
	// Metric names what is measured, Target is nil when open-ended, Used says what
	// was used of each budget: from the program file, where it is at hand.
	Metric string
	Target *metric.Value
	Used   func(*history.Summary) []budget.Used
	// Condition and Reason say how the program stands, NextDue when it runs
	// next; without a Condition the state file says what it can.
	Condition, Reason string
	NextDue           time.Time
	// Diff is the change of a commit as git prints it, nothing where it cannot be
	// read; nil shows none.
	Diff func(parent, commit string) []byte
	// Repository is the page of the repository on GitHub; "" when unknown.
	Repository string
}

// maxDiffs bounds the changes that a program's page shows, the latest first.
const maxDiffs = 60

// New draws up a program from its records. Every number is the replay's.
func New(s Source, now time.Time) (*Program, error) {
	past := history.Replay(s.Events)
	machine, _, err := state.ParseMachine(s.State)
	if err != nil && len(s.State) > 0 {
		return nil, fmt.Errorf("read the state of %s: %w", s.Name, err)
	}
	p := &Program{
		Name: s.Name, ID: anchor(s.Name), Metric: cmp.Or(clip(s.Metric, 60), "metric"), Direction: past.Direction,
		State: s.Condition, Reason: clip(s.Reason, 500), LastRun: past.LastRun, NextDue: s.NextDue,
		Initial: cmp.Or(past.Initial, machine.InitialMetric), Best: cmp.Or(past.Best, machine.BestMetric),
		Target: cmp.Or(s.Target, machine.TargetMetric),
		Week:   Cost{past.Spent(now.AddDate(0, 0, -7))}, Total: Cost{past.Spent(time.Time{})},
	}
	if s.Used != nil {
		for _, used := range s.Used(&past) {
			p.Budget = append(p.Budget, budget.Used{Text: clip(used.Text, 100), Share: used.Share})
		}
	}
	p.adopt(machine, past)
	if s.Repository != "" {
		p.Issue, p.Pull = numbered(s.Repository+"/issues/", past.Issue), numbered(s.Repository+"/pull/", past.Pull)
	}
	p.read(s, past)
	return p, nil
}

// numbered is an address on GitHub; "" for no number.
func numbered(address string, number int) string {
	if number < 1 {
		return ""
	}
	return address + strconv.Itoa(number)
}

// adopt takes from the state file what the ledger does not say.
func (p *Program) adopt(m state.Machine, past history.Summary) {
	if past.Iteration == 0 && len(past.Attempts) == 0 && past.Initial == nil {
		p.Direction = m.Direction
	}
	if p.LastRun.IsZero() && m.LastRun != nil {
		p.LastRun = *m.LastRun
	}
	switch {
	case m.Completed:
		p.State, p.Reason, p.NextDue = "completed", clip(m.CompletedReason, 500), time.Time{}
	case m.Paused:
		p.State, p.Reason, p.NextDue = "paused", clip(m.PauseReason, 500), time.Time{}
	case p.State != "":
	case m.Pending():
		p.State = "waits for CI"
	case p.LastRun.IsZero() && len(past.Attempts) == 0:
		p.State = "never ran"
	default:
		p.State = "active"
	}
	p.Attention = slices.Contains([]string{"error", "plateau", "paused"}, p.State)
}

// read takes the events over, by the iterations that they are of.
func (p *Program) read(s Source, past history.Summary) {
	events, spent, last := map[int][]history.Event{}, map[int]history.Spent{}, 0
	for _, attempt := range past.Attempts {
		spent[attempt.Iteration] = attempt.Spent
	}
	for _, e := range s.Events {
		n := e.Header().Iteration
		events[n] = append(events[n], e)
		switch e := e.(type) {
		case *history.Measured:
			if rates := e.CaseRates(); e.Role == history.Baseline && len(rates) > 0 && p.heat == nil {
				p.heat = []HeatColumn{{Kept: true, rates: rates}}
			}
			if e.Role == history.Baseline && e.Stage == "" && e.Metric != nil {
				p.Breaks = append(p.Breaks, last)
			}
		case *history.Decided:
			last = max(last, n)
			p.Lessons, p.Foreclosed = p.note(p.Lessons, e, e.Lessons), p.note(p.Foreclosed, e, e.Foreclosed)
		}
	}
	p.Breaks = p.Breaks[min(len(p.Breaks), 1):] // the first baseline breaks nothing
	for _, e := range (render.Account{Events: s.Events}).Decided() {
		it := &Iteration{Decided: e, Program: p.ID, Cost: Cost{spent[e.Iteration]}}
		it.Took = history.Seconds(60 * it.Cost.Minutes)
		it.read(events[e.Iteration])
		if s.Repository != "" {
			it.link(s.Repository)
		}
		if p.Tried++; it.Kept() {
			p.Kept++
		}
		p.Iterations = append(p.Iterations, it)
	}
	if s.Diff == nil {
		return
	}
	shown := map[string][]DiffLine{}
	for _, it := range slices.Backward(p.Iterations) {
		if _, known := shown[it.Commit]; !known && it.Commit != "" && len(shown) < maxDiffs {
			if patch := s.Diff(it.Parent, it.Commit); len(patch) > 0 {
				shown[it.Commit] = parseDiff(patch)
			}
		}
		it.Diff = shown[it.Commit]
	}
}

// note adds what a decision says and no decision on its iteration said before.
func (p *Program) note(list []Note, e *history.Decided, texts []string) []Note {
	for _, text := range texts {
		n := Note{Program: p.ID, Iteration: e.Iteration, Time: e.Time, Text: clip(text, 400)}
		if !slices.ContainsFunc(list, func(other Note) bool { return other.Iteration == n.Iteration && other.Text == n.Text }) {
			list = append(list, n)
		}
	}
	return list
}

// read takes from the events of an iteration the samples of the last stage of its trial,
// what the comparison said of them, the guardrails, and what CI said of its commit.
func (it *Iteration) read(events []history.Event) {
	var stage decision.Stage
	if n := len(it.Evidence); n > 0 {
		evidence := it.Evidence[n-1]
		stage, it.Test = evidence.Stage, render.Trial(evidence)
		middle := evidence.Incumbent.Float64()
		it.Interval = &[2]float64{middle + evidence.Low.Float64(), middle + evidence.High.Float64()}
	}
	waited, fixes, failing := false, 0, []history.Check(nil)
	for _, e := range events {
		switch e := e.(type) {
		case *history.Measured:
			if e.Stage != "" && e.Proposal == it.Proposal {
				it.measured(e, stage)
			}
		case *history.Checked:
			fixes, failing = fixes+1, e.Failing
		case *history.Decided:
			waited = waited || e.Outcome == history.PendingCI
		}
	}
	if len(it.Failing) > 0 {
		failing = it.Failing
	}
	switch {
	case it.Outcome == history.PendingCI:
		it.CI = "waits for it"
	case it.Outcome == history.CIFixExhausted:
		it.CI = "failed"
		for i, check := range failing[:min(len(failing), 5)] {
			it.CI += []string{": ", ", "}[min(i, 1)] + clip(check.Name, 60)
		}
	case waited && it.Kept():
		it.CI = "green"
	}
	if fixes > 0 && it.CI != "" {
		it.CI += ", after " + render.Count(fixes, "fix", "fixes")
	}
}

// measured takes a measurement of the trial; of several the last counts. Stage is the one
// that is shown, "" for any.
func (it *Iteration) measured(m *history.Measured, stage decision.Stage) {
	if rates := m.CaseRates(); m.Role == history.Candidate && len(rates) > 0 {
		it.cases = rates
	}
	if stage != "" && m.Stage != stage {
		return
	}
	switch m.Role { //nolint:exhaustive // what is looked at because a gain is held is no side of the trial
	case history.Incumbent:
		it.Before = m.Samples
	case history.Candidate:
		it.After, it.Guardrails = m.Samples, nil
		for name, values := range m.GuardrailSamples {
			for _, value := range values[:min(len(values), 1)] {
				it.Guardrails = append(it.Guardrails, clip(name, 60)+" "+render.Figure(&value))
			}
		}
		slices.Sort(it.Guardrails)
	}
}

// link adds addresses on GitHub; invalid ids are left out.
func (it *Iteration) link(repository string) {
	if len(it.Commit) >= 40 && strings.Trim(it.Commit, "0123456789abcdef") == "" {
		it.CommitURL = repository + "/commit/" + it.Commit
	}
	if run, _, _ := strings.Cut(it.Run, "-"); run != "" && strings.Trim(run, "0123456789") == "" {
		it.RunURL = repository + "/actions/runs/" + run
	}
}
