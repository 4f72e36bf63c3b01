// Package work does the runs of a suite, some at the same time, within a budget.
package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// defaultJobs is how many runs there are at the same time.
const defaultJobs = 2

// Each does a piece of work for every unit, in their order and so many at the same time, 0 for two.
// Before each one, may says what keeps it from beginning. After an error no further one
// begins, and those that run come to their end. The error has each reason once, or is
// why ctx ended.
func Each[U any](ctx context.Context, jobs int, units []U, may func(U) error, do func(context.Context, U) error) error {
	var (
		mu     sync.Mutex
		failed []error
		wait   sync.WaitGroup
	)
	slots := make(chan struct{}, cmp.Or(jobs, defaultJobs))
	for _, unit := range units {
		slots <- struct{}{}
		mu.Lock()
		if len(failed) == 0 && ctx.Err() == nil {
			if err := may(unit); err != nil {
				failed = append(failed, err)
			}
		}
		stop := len(failed) > 0 || ctx.Err() != nil
		mu.Unlock()
		if stop {
			break
		}
		wait.Go(func() {
			defer func() { <-slots }()
			if err := do(ctx, unit); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, err)
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(Once(failed)...)
}

// Once leaves out what was said already, as of an agent that works on every task.
func Once(faults []error) []error {
	said := map[string]bool{"": true}
	var list []error
	for _, err := range faults {
		if err != nil && !said[err.Error()] {
			said[err.Error()] = true
			list = append(list, err)
		}
	}
	return list
}

// Budget bounds what a run of a suite may use; zero fields are unbounded. What is
// running when it is used up ends by itself.
type Budget struct {
	USD    *metric.Value
	Tokens int64
	Time   time.Duration
	// UnknownCostPauses ends a run whose agent does not say what it costs.
	UnknownCostPauses bool
}

// Limits reports whether an agent is held to what is left.
func (b Budget) Limits() bool { return b.USD != nil || b.Tokens > 0 }

// Spending is what was used of a budget. Its methods may be called at the same time.
type Spending struct {
	Budget
	Begun time.Time

	mu      sync.Mutex
	expense history.Expense
	unknown int
}

// Worked adds what an agent used, Judged what a judge did; nil is unknown, which of a
// judge is no reason to stop.
func (s *Spending) Worked(tokens *int64, usd *metric.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expense.Add(tokens, usd)
	if tokens == nil && usd == nil {
		s.unknown++
	}
}

// Judged adds what a judge used.
func (s *Spending) Judged(tokens *int64, usd *metric.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expense.Add(tokens, usd)
}

// Used is all of it, and how many agents did not say what they used.
func (s *Spending) Used() (expense history.Expense, unknown int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.expense, s.unknown
}

// known is what is known to be used.
func (s *Spending) known() (tokens int64, usd metric.Value) {
	expense, _ := s.Used()
	if expense.Tokens != nil {
		tokens = *expense.Tokens
	}
	if expense.CostUSD != nil {
		usd = *expense.CostUSD
	}
	return tokens, usd
}

// Over says which bound is reached, nil for none.
func (s *Spending) Over(now time.Time) error {
	tokens, usd := s.known()
	_, unknown := s.Used()
	switch {
	case s.USD != nil && usd.Cmp(*s.USD) >= 0:
		return fmt.Errorf("the budget of %s USD is used up", s.USD)
	case s.Tokens > 0 && tokens >= s.Tokens:
		return fmt.Errorf("the budget of %d tokens is used up", s.Tokens)
	case s.Time > 0 && now.Sub(s.Begun) >= s.Time:
		return fmt.Errorf("the budget of %s is used up", s.Time)
	case s.UnknownCostPauses && unknown > 0 && s.Limits():
		return errors.New("the agent does not say what it costs, and `unknown-cost` is `pause`")
	default:
		return nil
	}
}

// Left is what a run that begins now may use, never nothing: no command line takes 0.
func (s *Spending) Left() (tokens int64, usd *metric.Value) {
	used, spent := s.known()
	if s.Tokens > 0 {
		tokens = max(s.Tokens-used, 1)
	}
	if s.USD != nil {
		rest := s.USD.Sub(spent)
		if least := metric.MustValue("0.0001"); rest.Cmp(least) < 0 {
			rest = least
		}
		usd = &rest
	}
	return tokens, usd
}
