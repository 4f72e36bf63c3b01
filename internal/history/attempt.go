package history

import (
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
)

// Attempt is one decided iteration.
type Attempt struct {
	Iteration    int
	Time         time.Time
	Outcome      Outcome
	Metric       *metric.Value
	PreviousBest *metric.Value
	Delta        string
	Summary      string
	Reasons      []decision.Reason
	Agent        string
	Definition   string
	Params       map[string]metric.Value
	// Evaluation is what measuring used; nil is nothing. A baseline before the
	// attempt is not in it, nor in Spent.
	Evaluation *Expense
	// Spent is what was used, from the iteration's start to its end.
	Spent Spent
	// Focus is the failing test that it was to make pass; "" for none.
	Focus string

	commit string
}

// use adds what a further proposal of the iteration used.
func (a *Attempt) use(work *Work, evaluation *Expense) {
	a.Evaluation = a.Evaluation.Plus(evaluation)
	a.Spent.add(work.spent())
	a.Spent.add(evaluation.spent())
	a.Spent.add(Spent{Minutes: work.lasted().Minutes()})
}
