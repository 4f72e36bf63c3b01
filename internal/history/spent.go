package history

import (
	"math"
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

// propose is the stage in Durations in which an agent works.
const propose = "propose"

// free is the agent that costs nothing: the built-in search.
const free = "tuner"

// expended is what a baseline used.
type expended struct {
	Time      time.Time
	Iteration int
	Expense   *Expense
}

// Spent adds up what was used at from or later. What was put off counts with
// what it used, but not as an iteration, nor as of unknown cost; a baseline
// counts when it was measured, and a run that never came back with what it
// reserved.
func (b *Summary) Spent(from time.Time) Spent {
	var s Spent
	var unknown unknowns
	for i := range b.Attempts {
		if a := &b.Attempts[i]; !a.Time.Before(from) {
			s.Iterations++
			s.add(a)
			unknown.attempt(a)
		}
	}
	for i := range b.PutOff {
		if a := &b.PutOff[i]; !a.Time.Before(from) {
			s.add(a)
		}
	}
	for i := range b.Abandoned {
		if a := &b.Abandoned[i]; !a.Time.Before(from) {
			s.abandon(a)
		}
	}
	for _, one := range b.baselines {
		if !one.Time.Before(from) {
			s.expend(one.Expense)
			unknown.expense(one.Iteration, one.Expense)
		}
	}
	s.UnknownTokens, s.UnknownUSD = len(unknown.tokens), len(unknown.usd)
	return s
}

func (s *Spent) add(a *Attempt) {
	used := a.consumed()
	s.Minutes = bounded(s.Minutes + a.Took.Minutes())
	s.Tokens += used.Tokens
	s.USD = bounded(s.USD + used.USD)
	s.expend(a.Evaluation)
}

func (s *Spent) expend(e *Expense) {
	tokens, usd := e.Known()
	s.Tokens += tokens
	s.USD = bounded(s.USD + usd)
	s.MeasuringTokens += tokens
	s.MeasuringUSD = bounded(s.MeasuringUSD + usd)
}

// bounded is a sum that can be written, however much somebody says that was used.
func bounded(sum float64) float64 { return min(max(sum, -math.MaxFloat64), math.MaxFloat64) }

// consumed is what is known: the whole is unknown when a part of it is, and
// then the other parts count.
func (a *Attempt) consumed() consumption {
	whole := a.known
	var told consumption
	told.add(a.Usage)
	whole.Tokens, whole.USD = max(told.Tokens, whole.Tokens), max(told.USD, whole.USD)
	return whole
}

// consumption is what is known to be used, and whether there is more.
type consumption struct {
	Tokens                int64
	USD                   float64
	LacksTokens, LacksUSD bool
}

func (c *consumption) add(u *metric.Usage) {
	if u == nil {
		return
	}
	if tokens := u.Tokens(); tokens != nil {
		c.Tokens += *tokens
	}
	if u.CostUSD != nil {
		c.USD = bounded(c.USD + u.CostUSD.Float64())
	}
}

// lack notes what an agent did not say.
func (c *consumption) lack(agent string, u *metric.Usage) {
	if agent == free {
		return
	}
	c.LacksTokens = c.LacksTokens || u == nil || u.OutputTokens == nil
	c.LacksUSD = c.LacksUSD || u == nil || u.CostUSD == nil
}

// unknowns are the iterations in which somebody did not say what was used.
type unknowns struct{ tokens, usd map[int]bool }

// attempt notes what an agent that worked did not say, or one who measured.
func (n *unknowns) attempt(a *Attempt) {
	n.expense(a.Iteration, a.Evaluation)
	if _, worked := a.Durations[propose]; !worked {
		return
	}
	used := a.known
	used.lack(a.Agent, a.Usage)
	n.note(a.Iteration, used.LacksTokens, used.LacksUSD)
}

func (n *unknowns) expense(iteration int, e *Expense) {
	if e != nil {
		n.note(iteration, e.UnknownTokens > 0, e.UnknownUSD > 0)
	}
}

func (n *unknowns) note(iteration int, tokens, usd bool) {
	if n.tokens == nil {
		n.tokens, n.usd = map[int]bool{}, map[int]bool{}
	}
	if tokens {
		n.tokens[iteration] = true
	}
	if usd {
		n.usd[iteration] = true
	}
}
