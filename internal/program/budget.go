package program

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Budget bounds what a program may use in one span; zero fields are unbounded.
type Budget struct {
	Iterations int
	Tokens     int64
	USD        float64
	Minutes    float64
	Per        Span
}

// Span is what a budget is for.
type Span string

// The spans: one iteration, a calendar day, week (from Monday) or month in UTC,
// or all that the program ever does.
const (
	PerIteration Span = "iteration"
	PerDay       Span = "day"
	PerWeek      Span = "week"
	PerMonth     Span = "month"
	PerProgram   Span = "program"
)

// Given reports whether the budget limits anything.
func (b Budget) Given() bool { return b != (Budget{Per: b.Per}) }

const budgetForm = "give `{iterations: 20, tokens: 1000000, usd: 5, minutes: 60, per: day}`, any of them, with `per` " +
	"iteration, day, week, month or program, or a list of such"

// setBudgets reads one budget, or a list of them for different spans.
func setBudgets(p *Program, v value) error {
	items := []value{v}
	if v.kind == list {
		items = v.items
	}
	if len(items) == 0 {
		return errors.New(budgetForm)
	}
	var budgets []Budget
	for _, item := range items {
		budget, err := p.budget(item)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(budgets, func(other Budget) bool { return other.Per == budget.Per }) {
			return fault{item.line, fmt.Errorf("there are two budgets per %s; make them one", budget.Per)}
		}
		budgets = append(budgets, budget)
	}
	p.Budgets = budgets
	return nil
}

func (p *Program) budget(v value) (Budget, error) {
	if v.kind != mapping || len(v.fields) == 0 {
		return Budget{}, fault{v.line, errors.New(budgetForm)}
	}
	budget := Budget{}
	given := map[string]bool{}
	for _, f := range v.fields {
		if given[f.key] {
			return budget, fault{f.line, fmt.Errorf("`%s` is given twice; keep one", f.name)}
		}
		given[f.key] = true
		if err := p.setLimit(&budget, f); err != nil {
			return budget, fault{f.line, fmt.Errorf("`%s`: %w", f.name, err)}
		}
	}
	if budget.Per == "" {
		budget.Per = PerMonth
		p.warn(v.line, "`budget` has no `per`; `month` is taken")
	}
	switch {
	case !budget.Given():
		return budget, fault{v.line, fmt.Errorf("it limits nothing; %s", budgetForm)}
	case budget.Per == PerIteration && budget.Iterations > 0:
		return budget, fault{v.line, errors.New(
			"`iterations` per iteration means nothing; give it per day, week, month or program")}
	}
	return budget, nil
}

func (p *Program) setLimit(budget *Budget, f field) (err error) {
	switch f.key {
	case "iterations":
		budget.Iterations, err = f.count(math.MaxInt32, "")
	case "tokens":
		var tokens int
		tokens, err = f.count(math.MaxInt, "")
		budget.Tokens = int64(tokens)
	case "usd":
		budget.USD, err = f.limit()
	case "minutes":
		budget.Minutes, err = f.limit()
	case "per":
		var per string
		per, err = f.oneOf(string(PerDay), string(PerWeek), string(PerMonth), string(PerIteration), string(PerProgram))
		budget.Per = Span(per)
	default:
		p.unknown(f, " of the budget", "iterations", "tokens", "usd", "minutes", "per")
	}
	return err
}

// limit is a number above 0.
func (v value) limit() (float64, error) {
	amount, err := v.amount()
	if err == nil && amount == 0 {
		err = errors.New("0 is no limit; give a number above 0, or pause the program in its state")
	}
	return amount, err
}
