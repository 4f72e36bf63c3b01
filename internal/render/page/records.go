package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
)

// Source is what is known of a program. The page shows the texts in it as New bounds them.
type Source struct {
	Name string
	// Summary is what Events, the ledger, add up to; File is the state file, which says the
	// rest.
	*history.Summary
	Events []history.Event
	File   []byte
	// Metric names what is measured, Target is nil when open-ended, Budget is what was
	// used of each budget: from the program file, where it is at hand.
	Metric string
	Target *metric.Value
	Budget []budget.Used
	// State is one word for how the program stands, Reason says why it does not run, NextDue
	// when it runs next; without a State the state file says what it can.
	State, Reason string
	NextDue       time.Time
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
	machine, _, err := state.ParseMachine(s.File)
	if err != nil && len(s.File) > 0 {
		return nil, fmt.Errorf("read the state of %s: %w", s.Name, err)
	}
	s.Metric, s.Reason = cmp.Or(clip(s.Metric, 60), "metric"), clip(s.Reason, 500)
	s.Target = cmp.Or(s.Target, machine.TargetMetric)
	s.Budget = slices.Clone(s.Budget)
	for i := range s.Budget {
		s.Budget[i].Text = clip(s.Budget[i].Text, 100)
	}
	p := &Program{
		Source: s, ID: anchor(s.Name), Kept: s.Count(history.Accepted), Tried: len(s.Attempts),
		Week: s.Spent(now.AddDate(0, 0, -7)), Total: s.Spent(time.Time{}),
	}
	p.Issue, p.Pull = render.PageOf(s.Repository, "/issues/", s.Issue), render.PageOf(s.Repository, "/pull/", s.Pull)
	p.adopt(machine)
	p.read()
	return p, nil
}

// adopt takes from the state file what the ledger does not say.
func (p *Program) adopt(m state.Machine) {
	never := len(p.Attempts) == 0
	past := *p.Summary
	if p.Summary = &past; never && past.Iteration == 0 && past.Initial == nil {
		past.Direction = m.Direction
	}
	past.Initial, past.Best = cmp.Or(past.Initial, m.InitialMetric), cmp.Or(past.Best, m.BestMetric)
	if past.LastRun.IsZero() && m.LastRun != nil {
		past.LastRun = *m.LastRun
	}
	switch {
	case m.Completed:
		p.State, p.Reason, p.NextDue = "completed", clip(m.CompletedReason, 500), time.Time{}
	case m.Paused:
		p.State, p.Reason, p.NextDue = "paused", clip(m.PauseReason, 500), time.Time{}
	case p.State != "":
	case m.Pending():
		p.State = "waits for CI"
	case past.LastRun.IsZero() && never:
		p.State = "never ran"
	default:
		p.State = "active"
	}
	p.Attention = slices.Contains([]string{"error", "plateau", "paused"}, p.State)
}

// read takes the attempts over.
func (p *Program) read() {
	for _, e := range p.Attempts {
		it := &Iteration{Attempt: e, Program: p.ID}
		if n := len(e.Evidence); n > 0 {
			trial := e.Evidence[n-1]
			it.Test = render.Trial(trial)
			middle := trial.Incumbent.Float64()
			it.Interval = &[2]float64{middle + trial.Low.Float64(), middle + trial.High.Float64()}
		}
		if p.Repository != "" {
			it.link(p.Repository)
		}
		incumbent, candidate := e.Sides()
		it.Before, it.After = incumbent.Samples, candidate.Samples
		for _, name := range slices.Sorted(maps.Keys(candidate.GuardrailSamples)) {
			if values := candidate.GuardrailSamples[name]; len(values) > 0 {
				it.Guardrails = append(it.Guardrails, clip(name, 60)+" "+render.Figure(&values[0]))
			}
		}
		p.Iterations = append(p.Iterations, it)
	}
	last := 0
	for _, e := range p.Events {
		switch e := e.(type) {
		case *history.Measured:
			if e.Role == history.Baseline && e.Stage == "" && e.Metric != nil {
				p.Breaks = append(p.Breaks, last)
			}
		case *history.Decided:
			last = max(last, e.Iteration)
		}
	}
	p.Breaks = p.Breaks[min(len(p.Breaks), 1):] // the first baseline breaks nothing
	shown := map[string][]DiffLine{}
	for _, it := range slices.Backward(p.Iterations) {
		p.Lessons, p.Foreclosed = it.noted(p.Lessons, it.Lessons), it.noted(p.Foreclosed, it.Foreclosed)
		if _, known := shown[it.Commit]; p.Diff != nil && !known && it.Commit != "" && len(shown) < maxDiffs {
			if patch := p.Diff(it.Parent, it.Commit); len(patch) > 0 {
				shown[it.Commit] = parseDiff(patch)
			}
		}
		it.Diff = shown[it.Commit]
	}
}

// noted adds what the agent of an iteration wrote down, the last first.
func (it *Iteration) noted(list []Note, texts []string) []Note {
	for _, text := range slices.Backward(texts) {
		list = append(list, Note{it, clip(text, 400)})
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
	it.RunURL = render.RunURL(repository+"/actions/runs/", it.Run)
}
