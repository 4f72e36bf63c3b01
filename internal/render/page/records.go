package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

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
		Week:   past.Spent(now.AddDate(0, 0, -7)), Total: past.Spent(time.Time{}),
	}
	if s.Used != nil {
		for _, used := range s.Used(&past) {
			p.Budget = append(p.Budget, budget.Used{Text: clip(used.Text, 100), Share: used.Share})
		}
	}
	if s.Repository != "" {
		p.Issue, p.Pull = numbered(s.Repository+"/issues/", past.Issue), numbered(s.Repository+"/pull/", past.Pull)
	}
	p.adopt(machine, past)
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
	last := 0
	for _, e := range past.Attempts {
		it := &Iteration{Attempt: e, Program: p.ID}
		if n := len(e.Evidence); n > 0 {
			trial := e.Evidence[n-1]
			it.Test = render.Trial(trial)
			middle := trial.Incumbent.Float64()
			it.Interval = &[2]float64{middle + trial.Low.Float64(), middle + trial.High.Float64()}
		}
		if s.Repository != "" {
			it.link(s.Repository)
		}
		incumbent, candidate := e.Sides()
		it.Before, it.After = incumbent.Samples, candidate.Samples
		for _, name := range slices.Sorted(maps.Keys(candidate.GuardrailSamples)) {
			if values := candidate.GuardrailSamples[name]; len(values) > 0 {
				it.Guardrails = append(it.Guardrails, clip(name, 60)+" "+render.Figure(&values[0]))
			}
		}
		if p.Tried++; it.Kept() {
			p.Kept++
		}
		p.Iterations = append(p.Iterations, it)
	}
	for _, e := range s.Events {
		switch e := e.(type) {
		case *history.Measured:
			if e.Role == history.Baseline && e.Stage == "" && e.Metric != nil {
				p.Breaks = append(p.Breaks, last)
			}
		case *history.Decided:
			last = max(last, e.Iteration)
			p.Lessons, p.Foreclosed = p.note(p.Lessons, e, e.Lessons), p.note(p.Foreclosed, e, e.Foreclosed)
		}
	}
	p.Breaks = p.Breaks[min(len(p.Breaks), 1):] // the first baseline breaks nothing
	slices.Reverse(p.Lessons)
	slices.Reverse(p.Foreclosed)
	shown := map[string][]DiffLine{}
	for _, it := range slices.Backward(p.Iterations) {
		if _, known := shown[it.Commit]; s.Diff != nil && !known && it.Commit != "" && len(shown) < maxDiffs {
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
		if !slices.ContainsFunc(
			list,
			func(other Note) bool { return other.Iteration == n.Iteration && other.Text == n.Text },
		) {
			list = append(list, n)
		}
	}
	return list
}

// CI is what CI said of the commit, in words; "" when it was not asked.
func (it *Iteration) CI() string {
	said := ""
	switch {
	case it.Outcome == history.PendingCI:
		said = "waits for it"
	case it.Outcome == history.CIFixExhausted:
		failing := it.Failing
		if n := len(it.Checked); n > 0 && len(failing) == 0 {
			failing = it.Checked[n-1].Failing
		}
		said = "failed"
		for i, check := range failing[:min(len(failing), 5)] {
			said += []string{": ", ", "}[min(i, 1)] + clip(check.Name, 60)
		}
	case it.Waited && it.Kept():
		said = "green"
	}
	if fixes := len(it.Checked); fixes > 0 && said != "" {
		said += ", after " + render.Count(fixes, "fix", "fixes")
	}
	return said
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
