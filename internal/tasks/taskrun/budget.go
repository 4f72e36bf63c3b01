package taskrun

import (
	"errors"
	"fmt"
	"time"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/tasks/format"
	"github.com/org/autoloop/internal/tasks/judge"
)

// spending is what this session has used; kept runs cost nothing again.
type spending struct {
	begun   time.Time
	usd     metric.Value
	tokens  int64
	unknown int // runs that did not say what they cost
	// expense is all of it, judges included.
	expense history.Expense
}

func (s *spending) add(cost format.Cost) {
	usd, usdKnown := value(cost.USD)
	tokens, tokensKnown := value(cost.Tokens)
	whole := int64(tokens.Float64())
	s.usd = s.usd.Add(usd)
	s.tokens += whole
	if !usdKnown && !tokensKnown {
		s.unknown++
	}
	s.expense.Add(given(whole, tokensKnown), given(usd, usdKnown))
}

// given is nil for what is not known.
func given[T any](amount T, known bool) *T {
	if !known {
		return nil
	}
	return &amount
}

func value(n *metric.Number) (metric.Value, bool) {
	if n == nil {
		return metric.Value{}, false
	}
	return n.Value()
}

// over says which bound is reached, nil for none.
func (s *spending) over(b Budget, now time.Time) error {
	switch {
	case b.USD != nil && s.usd.Cmp(*b.USD) >= 0:
		return fmt.Errorf("the budget of %s USD is used up", b.USD)
	case b.Tokens > 0 && s.tokens >= b.Tokens:
		return fmt.Errorf("the budget of %d tokens is used up", b.Tokens)
	case b.Time > 0 && now.Sub(s.begun) >= b.Time:
		return fmt.Errorf("the budget of %s is used up", b.Time)
	case b.UnknownCostPauses && s.unknown > 0 && (b.USD != nil || b.Tokens > 0):
		return errors.New("the agent does not say what it costs, and `unknown-cost` is `pause`")
	default:
		return nil
	}
}

// left is what a run that begins now may use.
func (s *spending) left(b Budget) agent.Limit {
	var limit agent.Limit
	if b.Tokens > 0 {
		limit.Tokens = max(b.Tokens-s.tokens, 1)
	}
	if b.USD != nil {
		usd := b.USD.Sub(s.usd)
		limit.CostUSD = &usd
	}
	return limit
}

// judged adds what a judge cost; what it does not say is no reason to stop.
func (s *spending) judged(v judge.Opinion) {
	if v.USD != nil {
		s.usd = s.usd.Add(*v.USD)
	}
	if v.Tokens != nil {
		s.tokens += *v.Tokens
	}
	s.expense.Add(v.Tokens, v.USD)
}
