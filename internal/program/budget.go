package program

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"go.yaml.in/yaml/v3"
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

// budgets reads one budget, or a list of them for different spans.
func (p *Program) budgets(v value) ([]Budget, error) {
	if v.Kind != yaml.SequenceNode {
		v = value{&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{v.Node}}}
	}
	budgets, err := listOf(budgetForm, p.budget)(v)
	for i, budget := range budgets {
		if slices.ContainsFunc(budgets[:i], func(other Budget) bool { return other.Per == budget.Per }) {
			err = fault{v.Content[i].Line, fmt.Errorf("there are two budgets per %s; make them one", budget.Per)}
		}
	}
	return budgets, err
}

func (p *Program) budget(v value) (budget Budget, err error) {
	if v.Kind != yaml.MappingNode || len(v.Content) == 0 {
		return budget, errors.New(budgetForm)
	}
	tokens := 0
	err = p.readParts(v, " of the budget",
		part{"iterations", into(&budget.Iterations, count(math.MaxInt32, ""))},
		part{"tokens", into(&tokens, count(math.MaxInt, ""))},
		part{"usd", into(&budget.USD, value.limit)},
		part{"minutes", into(&budget.Minutes, value.limit)},
		part{"per", into(&budget.Per, oneOf(PerDay, PerWeek, PerMonth, PerIteration, PerProgram))})
	budget.Tokens = int64(tokens)
	switch {
	case err != nil:
	case !budget.Given():
		err = fmt.Errorf("it limits nothing; %s", budgetForm)
	case budget.Per == PerIteration && budget.Iterations > 0:
		err = errors.New("`iterations` per iteration means nothing; give it per day, week, month or program")
	case budget.Per == "":
		budget.Per = PerMonth
		p.warn(v.Line, "`budget` has no `per`; `month` is taken")
	}
	return budget, err
}

// limit is a number above 0.
func (v value) limit() (float64, error) {
	amount, err := v.amount()
	if err == nil && amount.Sign() == 0 {
		err = errors.New("0 is no limit; give a number above 0, or pause the program in its state")
	}
	return amount.Float64(), err
}
