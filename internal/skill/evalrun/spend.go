package evalrun

import (
	"fmt"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/metric"
)

// spend notes what an executor or a grader used; nil is unknown.
func (s *session) spend(tokens *int64, usd *metric.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent.Add(tokens, usd)
}

// executed notes what an executor used.
func (s *session) executed(usage metric.Usage) {
	var tokens *int64
	if usage.InputTokens != nil && usage.OutputTokens != nil {
		tokens = new(*usage.InputTokens + *usage.OutputTokens)
	}
	s.spend(tokens, usage.CostUSD)
}

// overLimit is why no further case begins after so many, nil when one does.
func (s *session) overLimit(begun int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over != nil {
		return s.over
	}
	var used string
	switch tokens, _ := s.spent.Known(); {
	case s.Limit.Tokens > 0 && tokens >= s.Limit.Tokens:
		used = fmt.Sprintf("%d of %d tokens", tokens, s.Limit.Tokens)
	case s.Limit.CostUSD != nil && s.spent.CostUSD != nil && s.spent.CostUSD.Cmp(*s.Limit.CostUSD) >= 0:
		used = fmt.Sprintf("%s of %s USD", s.spent.CostUSD, s.Limit.CostUSD)
	default:
		return nil
	}
	s.over = &LimitError{fmt.Sprintf("%s were used with %d of %d cases begun", used, begun, len(s.skill.Evals.Cases))}
	return s.over
}

// stopAt notes that an executor was stopped at the limit.
func (s *session) stopAt(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		s.over = &LimitError{reason}
	}
}

// left is what an executor that begins now may use.
func (s *session) left() agent.Limit {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit := s.Limit
	if limit.Tokens > 0 {
		tokens, _ := s.spent.Known()
		limit.Tokens = max(limit.Tokens-tokens, 1)
	}
	if limit.CostUSD != nil && s.spent.CostUSD != nil {
		rest := limit.CostUSD.Sub(*s.spent.CostUSD)
		if least := metric.MustValue("0.0001"); rest.Cmp(least) < 0 {
			rest = least // no command line takes 0
		}
		limit.CostUSD = &rest
	}
	return limit
}
