package history

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/org/autoloop/internal/metric"
)

// Spent is what iterations used: agents, and evaluations that ask models.
type Spent struct {
	Iterations int
	Tokens     int64
	USD        float64
	Minutes    float64
	// MeasuringTokens and MeasuringUSD are the part of evaluations.
	MeasuringTokens int64
	MeasuringUSD    float64
	// UnknownTokens and UnknownUSD count the iterations in which somebody did not
	// say.
	UnknownTokens, UnknownUSD int
}

// Use is what was used by what is no decided iteration: the measuring of a baseline, a run that was
// put off, or one that never came back and recorded no outcome, with what it reserved.
type Use struct {
	Iteration int
	Time      time.Time
	Spent     Spent
}

// propose is the stage in Durations in which an agent works.
const propose = "propose"

// free is the agent that costs nothing: the built-in search.
const free = "tuner"

// Spent adds up what was used at from or later. What was put off counts with
// what it used, but not as an iteration, nor as of unknown cost; a baseline
// counts when it was measured, and a run that never came back with what it
// reserved.
func (b *Summary) Spent(from time.Time) Spent {
	var sum Spent
	unknownTokens, unknownUSD := map[int]bool{}, map[int]bool{}
	all := slices.Clone(b.Used)
	for _, a := range b.Attempts {
		all = append(all, Use{a.Iteration, a.Time, a.Spent})
	}
	for _, one := range all {
		if one.Time.Before(from) {
			continue
		}
		sum.add(one.Spent)
		if one.Spent.UnknownTokens > 0 {
			unknownTokens[one.Iteration] = true
		}
		if one.Spent.UnknownUSD > 0 {
			unknownUSD[one.Iteration] = true
		}
	}
	sum.UnknownTokens, sum.UnknownUSD = len(unknownTokens), len(unknownUSD)
	return sum
}

// add is for the same iteration, or for one of which the unknown is counted elsewhere.
func (s *Spent) add(more Spent) {
	s.Iterations += more.Iterations
	s.Tokens += more.Tokens
	s.USD = bounded(s.USD + more.USD)
	s.Minutes = bounded(s.Minutes + more.Minutes)
	s.MeasuringTokens += more.MeasuringTokens
	s.MeasuringUSD = bounded(s.MeasuringUSD + more.MeasuringUSD)
	s.UnknownTokens = max(s.UnknownTokens, more.UnknownTokens)
	s.UnknownUSD = max(s.UnknownUSD, more.UnknownUSD)
}

// bounded is a sum that can be written, however much somebody says that was used.
func bounded(sum float64) float64 { return min(max(sum, -math.MaxFloat64), math.MaxFloat64) }

// spent is what an agent says that it used. Who worked and does not say it is unknown.
func (w *Work) spent() Spent {
	usage := cmp.Or(w.Usage, &metric.Usage{})
	tokens, usd := (&Expense{Tokens: usage.Tokens(), CostUSD: usage.CostUSD}).Known()
	spent := Spent{Tokens: tokens, USD: bounded(usd)}
	if _, worked := w.Durations[propose]; worked && w.Agent != free {
		if usage.OutputTokens == nil {
			spent.UnknownTokens = 1
		}
		if usage.CostUSD == nil {
			spent.UnknownUSD = 1
		}
	}
	return spent
}

// spent is what measuring used.
func (e *Expense) spent() Spent {
	if e == nil {
		return Spent{}
	}
	tokens, usd := e.Known()
	return Spent{
		Tokens: tokens, USD: usd, MeasuringTokens: tokens, MeasuringUSD: usd,
		UnknownTokens: min(e.UnknownTokens, 1), UnknownUSD: min(e.UnknownUSD, 1),
	}
}

// WithoutOpen is what the ledger adds up to when the run of the open start, if
// there is one, never comes back. b stays as it is.
func (b *Summary) WithoutOpen() Summary {
	without := *b
	if without.Open != nil {
		without.Used = slices.Clone(without.Used)
		without.abandonOpen()
		without.Open = nil
	}
	return without
}

// abandonOpen counts what the open start reserved, unless its run recorded what
// became of it. While CI is waited for at most a fix was begun, which is no iteration.
func (b *Summary) abandonOpen() {
	if b.openDecided {
		return
	}
	reserved := cmp.Or(b.Open.Reserved, &Reserved{})
	lost := Spent{Iterations: 1, Tokens: reserved.Tokens, Minutes: bounded(reserved.Minutes)}
	if reserved.CostUSD != nil {
		lost.USD = bounded(reserved.CostUSD.Float64())
	}
	if b.Waiting() != nil {
		lost.Iterations = 0
	}
	b.Used = append(b.Used, Use{b.Open.Iteration, b.Open.Time, lost})
}

// Expense is what the models used that an evaluation asked. Nil means that it asked none.
type Expense struct {
	// Tokens, of input and output, adds up what is known; nil when nothing is.
	Tokens *int64 `json:"tokens"`
	// CostUSD adds up what is known, in US dollars; nil when nothing is.
	CostUSD *metric.Value `json:"cost_usd"`
	// UnknownTokens counts the pieces of work that did not say how many.
	UnknownTokens int `json:"unknown_tokens,omitempty"`
	// UnknownUSD counts the pieces of work that did not say what they cost.
	UnknownUSD int `json:"unknown_usd,omitempty"`
}

// Add counts one more piece of work; nil is unknown, and so is what cannot be.
func (e *Expense) Add(tokens *int64, usd *metric.Value) {
	possible := metric.Usage{InputTokens: tokens, CostUSD: usd}.Possible()
	one := Expense{Tokens: possible.InputTokens, CostUSD: possible.CostUSD}
	if one.Tokens == nil {
		one.UnknownTokens = 1
	}
	if one.CostUSD == nil {
		one.UnknownUSD = 1
	}
	*e = *e.Plus(&one)
}

// Plus is two expenses together; nil adds nothing.
func (e *Expense) Plus(more *Expense) *Expense {
	switch {
	case e == nil:
		return more
	case more == nil:
		return e
	}
	sum := *e
	sum.Tokens = metric.Known(e.Tokens, more.Tokens)
	if more.CostUSD != nil {
		usd := more.CostUSD.Add(*cmp.Or(e.CostUSD, &metric.Value{}))
		sum.CostUSD = &usd
	}
	sum.UnknownTokens += more.UnknownTokens
	sum.UnknownUSD += more.UnknownUSD
	return &sum
}

// Given returns the expense, or nil when nobody was asked.
func (e *Expense) Given() *Expense {
	if e == nil || *e == (Expense{}) {
		return nil
	}
	return e
}

// Known is what is known of it, 0 for nothing.
func (e *Expense) Known() (tokens int64, usd float64) {
	if e != nil && e.Tokens != nil {
		tokens = *e.Tokens
	}
	if e != nil && e.CostUSD != nil {
		usd = e.CostUSD.Float64()
	}
	return tokens, usd
}
