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
	p := &Program{
		Name: s.Name, ID: anchor(s.Name), Metric: clip(s.Metric, 60), Target: s.Target, NextDue: s.NextDue,
		State: s.Condition, Reason: clip(s.Reason, 500),
	}
	past := history.Replay(s.Events)
	p.Direction, p.Initial, p.Best, p.LastRun = past.Direction, past.Initial, past.Best, past.LastRun
	if s.Used != nil {
		for _, used := range s.Used(&past) {
			p.Budget = append(p.Budget, budget.Used{Text: clip(used.Text, 100), Share: used.Share})
		}
	}
	p.Metric = cmp.Or(p.Metric, "metric")
	machine, _, err := state.ParseMachine(s.State)
	if err != nil && len(s.State) > 0 {
		return nil, fmt.Errorf("read the state of %s: %w", s.Name, err)
	}
	p.adopt(machine, past)
	if s.Repository != "" {
		p.Issue, p.Pull = numbered(s.Repository+"/issues/", past.Issue), numbered(s.Repository+"/pull/", past.Pull)
	}
	r := reader{
		program: p, source: s, trials: map[int][]*history.Measured{}, waited: map[int]bool{},
		fixes: map[int]int{}, failing: map[int][]history.Check{},
	}
	r.read(&past)
	r.diffs()
	p.Tried, p.Kept = len(p.Iterations), 0
	for _, it := range p.Iterations {
		if it.Kept() {
			p.Kept++
		}
	}
	p.drawn = trajectory(p)
	p.Week, p.Total = Cost{past.Spent(now.AddDate(0, 0, -7))}, Cost{past.Spent(time.Time{})}
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
	if p.Initial == nil {
		p.Initial = m.InitialMetric
	}
	if p.Best == nil {
		p.Best = m.BestMetric
	}
	if p.Target == nil {
		p.Target = m.TargetMetric
	}
	if p.LastRun.IsZero() && m.LastRun != nil {
		p.LastRun = *m.LastRun
	}
	switch {
	case m.Completed:
		p.State, p.Reason, p.NextDue = "completed", clip(m.CompletedReason, 500), time.Time{}
	case m.Paused:
		p.State, p.Reason, p.Attention, p.NextDue = "paused", clip(m.PauseReason, 500), true, time.Time{}
	case p.State == "" && m.Pending():
		p.State = "waits for CI"
	case p.State == "" && p.LastRun.IsZero() && len(past.Attempts) == 0:
		p.State = "never ran"
	case p.State == "":
		p.State = "active"
	}
	p.Attention = p.Attention || p.State == "error" || p.State == "plateau" || p.State == "paused"
}

// reader turns events into iterations.
type reader struct {
	program *Program
	source  Source
	// trials are the measurements of an iteration's trial.
	trials map[int][]*history.Measured
	// Of the iterations whose commits CI looked at: which waited for it, how often an
	// agent was asked for a fix, and what failed last.
	waited  map[int]bool
	fixes   map[int]int
	failing map[int][]history.Check
}

// read takes the events over, and what they add up to.
func (r *reader) read(past *history.Summary) {
	baselines, last := 0, 0
	told := map[Note]bool{} // what a later decision on an iteration says again
	notes := func(list []Note, e *history.Decided, texts []string) []Note {
		for _, text := range texts {
			n := Note{Program: r.program.ID, Iteration: e.Iteration, Text: clip(text, 400)}
			if !told[n] {
				told[n] = true
				n.Time = e.Time
				list = append(list, n)
			}
		}
		return list
	}
	for _, e := range r.source.Events {
		switch e := e.(type) {
		case *history.Measured:
			if e.Stage != "" {
				r.trials[e.Iteration] = append(r.trials[e.Iteration], e)
			}
			if e.Role != history.Baseline {
				continue
			}
			if rates := e.CaseRates(); len(rates) > 0 && len(r.program.heat) == 0 {
				r.program.heat = []HeatColumn{{Kept: true, rates: rates}}
			}
			if e.Stage == "" && e.Metric != nil {
				if baselines++; baselines > 1 {
					r.program.Breaks = append(r.program.Breaks, last)
				}
			}
		case *history.Checked:
			r.fixes[e.Iteration]++
			r.failing[e.Iteration] = e.Failing
		case *history.Decided:
			last = max(last, e.Iteration)
			r.waited[e.Iteration] = r.waited[e.Iteration] || e.Outcome == history.PendingCI
			r.program.Lessons = notes(r.program.Lessons, e, e.Lessons)
			r.program.Foreclosed = notes(r.program.Foreclosed, e, e.Foreclosed)
		}
	}
	spent := map[int]history.Spent{}
	for _, attempt := range past.Attempts {
		spent[attempt.Iteration] = attempt.Spent
	}
	for _, e := range (render.Account{Events: r.source.Events}).Decided() {
		it := r.iteration(e)
		it.Cost = Cost{spent[e.Iteration]}
		it.Took = history.Seconds(60 * it.Cost.Minutes)
		r.program.Iterations = append(r.program.Iterations, it)
	}
}

// iteration is what the page shows of a decision.
func (r *reader) iteration(e *history.Decided) *Iteration {
	it := &Iteration{Decided: e, Program: r.program.ID}
	r.trial(it)
	r.links(it)
	r.ci(it)
	return it
}

// trial takes the samples of the last stage of the trial, what the comparison
// said of them, and the guardrails.
func (r *reader) trial(it *Iteration) {
	var stage decision.Stage
	if n := len(it.Evidence); n > 0 {
		evidence := it.Evidence[n-1]
		stage = evidence.Stage
		it.Test = render.Trial(evidence)
		middle := evidence.Incumbent.Float64()
		it.Interval = &[2]float64{middle + evidence.Low.Float64(), middle + evidence.High.Float64()}
	}
	for _, m := range r.trials[it.Iteration] {
		if m.Proposal != it.Proposal {
			continue
		}
		if rates := m.CaseRates(); m.Role == history.Candidate && len(rates) > 0 {
			it.cases = rates // of several measurements the last counts
		}
		if stage != "" && m.Stage != stage {
			continue
		}
		samples := make([]float64, 0, len(m.Samples))
		for _, sample := range m.Samples {
			samples = append(samples, sample.Float64())
		}
		switch m.Role { //nolint:exhaustive // what is looked at because a gain is held is no side of the trial
		case history.Candidate:
			it.After = samples
		case history.Incumbent:
			it.Before = samples
		}
		if m.Role == history.Candidate {
			it.Guardrails = nil
			for name, values := range m.GuardrailSamples {
				for _, value := range values[:min(len(values), 1)] {
					it.Guardrails = append(it.Guardrails, clip(name, 60)+" "+short(value.Float64()))
				}
			}
			slices.Sort(it.Guardrails)
		}
	}
}

// diffs adds the changes of the latest commits.
func (r *reader) diffs() {
	if r.source.Diff == nil {
		return
	}
	shown := map[string][]DiffLine{}
	for _, it := range slices.Backward(r.program.Iterations) {
		lines, known := shown[it.Commit]
		if !known && it.Commit != "" && len(shown) < maxDiffs {
			if patch := r.source.Diff(it.Parent, it.Commit); len(patch) > 0 {
				lines = parseDiff(patch)
				shown[it.Commit] = lines
			}
		}
		it.Diff = lines
	}
}

// ci says what became of a commit that waited for CI.
func (r *reader) ci(it *Iteration) {
	failing := r.failing[it.Iteration]
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
	case r.waited[it.Iteration] && it.Kept():
		it.CI = "green"
	}
	if n := r.fixes[it.Iteration]; n > 0 && it.CI != "" {
		it.CI += ", after " + render.Count(n, "fix", "fixes")
	}
}

// links adds addresses on GitHub; invalid ids are left out.
func (r *reader) links(it *Iteration) {
	if r.source.Repository == "" {
		return
	}
	if isHex(it.Commit) {
		it.CommitURL = r.source.Repository + "/commit/" + it.Commit
	}
	if run, _, _ := strings.Cut(it.Run, "-"); run != "" && strings.Trim(run, "0123456789") == "" {
		it.RunURL = r.source.Repository + "/actions/runs/" + run
	}
}

func isHex(text string) bool {
	return len(text) >= 40 && strings.Trim(text, "0123456789abcdef") == ""
}
