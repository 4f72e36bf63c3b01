package program

import (
	"errors"
	"fmt"
	"math"
)

const budgetForm = "give `{iterations: 20, tokens: 1000000, usd: 5, minutes: 60, per: day}`, any of them, with `per` day, week or month"

func setBudget(p *Program, v value) error {
	if v.kind != mapping || len(v.fields) == 0 {
		return errors.New(budgetForm)
	}
	budget := Budget{}
	given := map[string]bool{}
	for _, f := range v.fields {
		if given[f.key] {
			return fault{f.line, fmt.Errorf("`%s` is given twice; keep one", f.name)}
		}
		given[f.key] = true
		if err := p.setLimit(&budget, f); err != nil {
			return fault{f.line, fmt.Errorf("`%s`: %w", f.name, err)}
		}
	}
	if budget.Per == "" {
		budget.Per = "month"
		p.warn(v.line, "`budget` has no `per`; `month` is taken")
	}
	if !budget.Given() {
		return fmt.Errorf("it limits nothing; %s", budgetForm)
	}
	p.Budget = budget
	return nil
}

func (p *Program) setLimit(budget *Budget, f field) (err error) {
	switch f.key {
	case "iterations":
		budget.Iterations, err = f.count(1, math.MaxInt32, "")
	case "tokens":
		var tokens int
		tokens, err = f.count(1, math.MaxInt, "")
		budget.Tokens = int64(tokens)
	case "usd":
		budget.USD, err = f.limit()
	case "minutes":
		budget.Minutes, err = f.limit()
	case "per":
		budget.Per, err = f.oneOf("day", "week", "month")
	default:
		p.warn(f.line, "unknown key `%s` of the budget is ignored; known are iterations, tokens, usd, minutes and per", clip(f.name))
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
