package program

import (
	"fmt"
	"math"
	"time"
)

// The makers of setters for keys that are alike.

func textKey(field func(*Program) *string, accepted string) setter {
	return func(p *Program, v value) error {
		text, err := v.word(accepted)
		if err == nil {
			*field(p) = text
		}
		return err
	}
}

func pathKey(field func(*Program) *string) setter {
	return func(p *Program, v value) error {
		text, err := v.oneLine("a path from the repository's root")
		if err != nil {
			return err
		}
		if text, err = cleanPath(text); err != nil {
			return err
		}
		*field(p) = text
		return nil
	}
}

func choiceKey(field func(*Program) *string, choices ...string) setter {
	return func(p *Program, v value) error {
		text, err := v.oneOf(choices...)
		if err == nil {
			*field(p) = text
		}
		return err
	}
}

func boolKey(field func(*Program) *bool) setter {
	return func(p *Program, v value) error {
		text, err := v.oneOf("true", "false", "yes", "no", "on", "off")
		if err == nil {
			*field(p) = text == "true" || text == "yes" || text == "on"
		}
		return err
	}
}

func countKey(field func(*Program) *int, most int) setter {
	return func(p *Program, v value) error {
		n, err := v.count(1, most, "")
		if err == nil {
			*field(p) = n
		}
		return err
	}
}

func durationKey(field func(*Program) *time.Duration, least time.Duration) setter {
	return func(p *Program, v value) error {
		d, err := v.duration(least)
		if err == nil {
			*field(p) = d
		}
		return err
	}
}

func thresholdKey(field func(*Thresholds) *float64) setter {
	return func(p *Program, v value) error {
		amount, err := v.amount()
		if err == nil {
			*field(&p.Thresholds) = amount
		}
		return err
	}
}

func patternsKey(field func(*Program) *[]Pattern) setter {
	return func(p *Program, v value) error {
		items, err := v.words("src/*.go, docs/")
		if err != nil {
			return err
		}
		for _, item := range items {
			pattern, err := newPattern(item.text, item.line)
			if err != nil {
				return fault{item.line, err}
			}
			pattern.Bare = false // a list holds no prose
			*field(p) = append(*field(p), pattern)
		}
		return nil
	}
}

const budgetForm = "give `{iterations: 20, tokens: 1000000, usd: 5, minutes: 60, per: day}`, any of them, with `per` day, week or month"

func setBudget(p *Program, v value) error {
	if v.kind != mapping || len(v.fields) == 0 {
		return fmt.Errorf("%s", budgetForm)
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
		err = fmt.Errorf("0 is no limit; give a number above 0, or pause the program in its state")
	}
	return amount, err
}
