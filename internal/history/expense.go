package history

import (
	"cmp"

	"github.com/org/autoloop/internal/metric"
)

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
	if more.Tokens != nil {
		known, _ := e.Known()
		known += *more.Tokens
		sum.Tokens = &known
	}
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
