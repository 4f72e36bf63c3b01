package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/metric"
)

// builtIn is the agent that costs nothing.
const builtIn = "tuner"

// Source is what is known of a program.
type Source struct {
	Name string
	// Segments hands the ledger over, segment by segment, at whose ends no run is open;
	// Start is what it adds up to before. State is the state file.
	Segments func(visit func([]history.Event) error) error
	Start    history.Summary
	State    []byte
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

// New draws up a program from its records. Every number is the replay's. Of the ledger
// it keeps what the page shows of each iteration.
func New(s Source, now time.Time) (*Program, error) {
	p := &Program{Name: s.Name, ID: anchor(s.Name), Metric: clip(s.Metric, 60), Target: s.Target, NextDue: s.NextDue, State: s.Condition, Reason: clip(s.Reason, 500)}
	r := reader{
		program: p, source: s, sum: history.Summary{}, week: now.AddDate(0, 0, -7), at: map[int]int{},
		trials: map[int][]*history.Measured{}, rates: map[int]map[int]decision.CaseRates{},
		waited: map[int]bool{}, fixes: map[int]int{}, failing: map[int][]history.Check{},
	}
	if s.Segments != nil {
		if err := s.Segments(r.read); err != nil {
			return nil, err
		}
	}
	past := r.sum
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
	r.diffs()
	for _, it := range p.Iterations {
		p.Tried++
		if it.Kept() {
			p.Kept++
		}
	}
	p.drawn = trajectory(p)
	p.Week, p.Total = cost(past.Spent(r.week)), cost(past.Spent(time.Time{}))
	return p, nil
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

func cost(s history.Spent) Cost {
	return Cost{USD: s.USD, Tokens: s.Tokens, Minutes: s.Minutes, Unknown: s.UnknownUSD}
}

// reader turns events into iterations.
type reader struct {
	program *Program
	source  Source
	sum     history.Summary
	week    time.Time   // when the last seven days began
	at      map[int]int // where in the program's iterations one is
	// baselines counts them, last is the last iteration.
	baselines, last int

	// What follows is of the segment that is read, and of the last iteration before it,
	// which may wait for CI. trials are the measurements of an
	// iteration's trial, rates the pass rates of cases, by iteration and proposal.
	trials map[int][]*history.Measured
	rates  map[int]map[int]decision.CaseRates
	// Of the commits that CI looked at: which waited for it, how often an agent was
	// asked for a fix, and what failed last.
	waited  map[int]bool
	fixes   map[int]int
	failing map[int][]history.Check
}

// read takes one segment over.
func (r *reader) read(events []history.Event) error {
	first := max(len(r.sum.Attempts)-1, 0)
	for _, e := range events {
		r.sum.Add(e)
		if at, shown := r.at[history.UndoneBy(e)]; shown {
			r.program.Iterations[at].Outcome = history.Undone
		}
		switch e := e.(type) {
		case *history.Measured:
			r.cases(e)
			if e.Stage != "" {
				r.trials[e.Iteration] = append(r.trials[e.Iteration], e)
			} else if e.Role == history.Baseline && e.Metric != nil {
				if r.baselines++; r.baselines > 1 {
					r.program.Breaks = append(r.program.Breaks, r.last)
				}
			}
		case *history.Checked:
			r.fixes[e.Iteration]++
			r.failing[e.Iteration] = e.Failing
		case *history.Decided:
			r.last = max(r.last, e.Iteration)
			r.decided(e)
		case *history.Set:
			r.set(e)
		}
	}
	for i := first; i < len(r.sum.Attempts); i++ {
		if at, shown := r.at[r.sum.Attempts[i].Iteration]; shown {
			r.cost(r.program.Iterations[at], &r.sum.Attempts[i])
		}
	}
	keep(r.trials, r.last)
	keep(r.rates, r.last)
	keep(r.waited, r.last)
	keep(r.fixes, r.last)
	keep(r.failing, r.last)
	r.sum.Proposals, r.sum.Tried = nil, nil
	return nil
}

// keep leaves what is known of one iteration.
func keep[V any](of map[int]V, iteration int) {
	maps.DeleteFunc(of, func(n int, _ V) bool { return n != iteration })
}

func (r *reader) set(e *history.Set) {
	if r.source.Repository == "" {
		return
	}
	number, err := strconv.Atoi(e.Value)
	if err != nil || number < 1 {
		return
	}
	switch e.Key {
	case history.IssueNumber:
		r.program.Issue = r.source.Repository + "/issues/" + strconv.Itoa(number)
	case history.PullNumber:
		r.program.Pull = r.source.Repository + "/pull/" + strconv.Itoa(number)
	}
}

// decided adds an iteration; of several decisions about one the last counts.
func (r *reader) decided(e *history.Decided) {
	it := &Iteration{
		Program: r.program.ID, Number: e.Iteration, Time: e.Time, Outcome: e.Outcome, Summary: clip(e.Summary, 300), Warning: clip(decision.Joined(e.Warning), 300),
		Metric: e.Metric, Previous: e.PreviousBest, Best: e.Best, Delta: e.Delta, Agent: clip(e.Agent, 60), Model: clip(e.Model, 60),
		Commit: e.Commit, parent: e.Parent,
	}
	for i, reason := range e.Reasons {
		if i == 0 {
			it.Why = reason
		}
		it.Reasons = append(it.Reasons, clip(reason.String(), 500))
	}
	for _, path := range e.Changed[:min(len(e.Changed), 20)] {
		it.Changed = append(it.Changed, clip(path, 200))
	}
	it.cases = r.rates[e.Iteration][e.Proposal]
	r.trial(it, e)
	r.notes(it, e)
	r.links(it, e)
	r.ci(it, e)
	if i, again := r.at[e.Iteration]; again {
		r.program.Iterations[i] = it
		return
	}
	r.at[e.Iteration] = len(r.program.Iterations)
	r.program.Iterations = append(r.program.Iterations, it)
}

// trial takes the samples of the last stage of the trial, what the comparison
// said of them, and the guardrails.
func (r *reader) trial(it *Iteration, e *history.Decided) {
	var stage decision.Stage
	if n := len(e.Evidence); n > 0 {
		evidence := e.Evidence[n-1]
		stage = evidence.Stage
		it.Test = fmt.Sprintf("p = %.2g after %d pairs; difference %s, %s %% interval %s to %s", evidence.P, evidence.Pairs,
			signed(evidence.Difference.Float64()), short(100*evidence.Confidence), signed(evidence.Low.Float64()), signed(evidence.High.Float64()))
		middle := evidence.Incumbent.Float64()
		it.Interval = &[2]float64{middle + evidence.Low.Float64(), middle + evidence.High.Float64()}
	}
	for _, m := range r.trials[e.Iteration] {
		if m.Proposal != e.Proposal || stage != "" && m.Stage != stage {
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

func (r *reader) cost(it *Iteration, attempt *history.Attempt) {
	it.Took, it.Cost = attempt.Took, Cost{}
	tokens, usd := attempt.Evaluation.Known()
	it.Cost.Tokens, it.Cost.USD = tokens, usd
	if u := attempt.Usage; u != nil {
		for _, n := range []*int64{u.InputTokens, u.OutputTokens} {
			if n != nil {
				it.Cost.Tokens += *n
			}
		}
		if u.CostUSD != nil {
			it.Cost.USD += u.CostUSD.Float64()
		}
	}
	if it.Agent != builtIn && (attempt.Usage == nil || attempt.Usage.CostUSD == nil) && it.Took > 0 {
		it.Cost.Unknown = 1
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
			if patch := r.source.Diff(it.parent, it.Commit); len(patch) > 0 {
				lines = parseDiff(patch)
				shown[it.Commit] = lines
			}
		}
		it.Diff = lines
	}
}

func (r *reader) notes(it *Iteration, e *history.Decided) {
	for _, text := range e.Lessons {
		r.program.Lessons = append(r.program.Lessons, Note{r.program.ID, e.Iteration, e.Time, clip(text, 400)})
	}
	for _, text := range e.Foreclosed {
		r.program.Foreclosed = append(r.program.Foreclosed, Note{r.program.ID, e.Iteration, e.Time, clip(text, 400)})
	}
	for _, text := range e.Ideas {
		it.Notes = append(it.Notes, clip(text, 400))
	}
}

// ci says what became of a commit that waited for CI.
func (r *reader) ci(it *Iteration, e *history.Decided) {
	failing := r.failing[e.Iteration]
	if len(e.Failing) > 0 {
		failing = e.Failing
	}
	switch {
	case e.Outcome == history.PendingCI:
		r.waited[e.Iteration] = true
		it.CI = "waits for it"
	case e.Outcome == history.CIFixExhausted:
		it.CI = "failed"
		for i, check := range failing[:min(len(failing), 5)] {
			it.CI += []string{": ", ", "}[min(i, 1)] + clip(check.Name, 60)
		}
	case r.waited[e.Iteration] && it.Kept():
		it.CI = "green"
	}
	if n := r.fixes[e.Iteration]; n > 0 && it.CI != "" {
		it.CI += ", after " + fmt.Sprintf("%d %s", n, []string{"fix", "fixes"}[min(n-1, 1)])
	}
}

// links adds addresses on GitHub; invalid ids are left out.
func (r *reader) links(it *Iteration, e *history.Decided) {
	if r.source.Repository == "" {
		return
	}
	if isHex(it.Commit) {
		it.CommitURL = r.source.Repository + "/commit/" + it.Commit
	}
	if run, _, _ := strings.Cut(e.Run, "-"); run != "" && strings.Trim(run, "0123456789") == "" {
		it.RunURL = r.source.Repository + "/actions/runs/" + run
	}
}

func isHex(text string) bool {
	return len(text) >= 40 && strings.Trim(text, "0123456789abcdef") == ""
}
