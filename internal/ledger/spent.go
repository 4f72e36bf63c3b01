package ledger

import "time"

// Spent is what iterations used.
type Spent struct {
	Iterations int
	Tokens     int64
	USD        float64
	Minutes    float64
	// UnknownTokens and UnknownUSD count the iterations whose agent did not say.
	UnknownTokens, UnknownUSD int
}

// propose is the stage in Durations in which an agent works.
const propose = "propose"

// free is the agent that costs nothing: the built-in search.
const free = "tuner"

// Spent adds up the iterations that ended at from or later. What was put off
// counts with what it used, but not as an iteration, nor as of unknown cost.
func (b *Books) Spent(from time.Time) Spent {
	var s Spent
	for i := range b.Attempts {
		if a := &b.Attempts[i]; !a.Time.Before(from) {
			s.Iterations++
			s.add(a)
			s.unknown(a)
		}
	}
	for i := range b.PutOff {
		if a := &b.PutOff[i]; !a.Time.Before(from) {
			s.add(a)
		}
	}
	return s
}

func (s *Spent) add(a *Attempt) {
	used := a.consumed()
	s.Minutes += a.Took.Minutes()
	s.Tokens += used.tokens
	s.USD += used.usd
}

// consumed is what is known: the whole is unknown when a part of it is, and
// then the other parts count.
func (a *Attempt) consumed() consumption {
	var whole consumption
	whole.add(a.Usage)
	return consumption{max(whole.tokens, a.known.tokens), max(whole.usd, a.known.usd)}
}

// consumption is what is known to be used.
type consumption struct {
	tokens int64
	usd    float64
}

func (c *consumption) add(u *Usage) {
	if u == nil {
		return
	}
	for _, tokens := range []*int64{u.InputTokens, u.OutputTokens} {
		if tokens != nil {
			c.tokens += *tokens
		}
	}
	if u.CostUSD != nil {
		c.usd += u.CostUSD.Float64()
	}
}

// unknown counts what an agent that worked did not say.
func (s *Spent) unknown(a *Attempt) {
	if _, worked := a.Durations[propose]; !worked || a.Agent == free {
		return
	}
	if a.Usage == nil || a.Usage.OutputTokens == nil {
		s.UnknownTokens++
	}
	if a.Usage == nil || a.Usage.CostUSD == nil {
		s.UnknownUSD++
	}
}
