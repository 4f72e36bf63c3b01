package history

import (
	"maps"
	"math"
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
	// Usage is nil when nothing is known; Durations are in seconds by stage.
	Usage     *metric.Usage
	Durations map[string]float64
	// Evaluation is what measuring used, beside Usage; nil is nothing. A baseline
	// before the attempt is not in it.
	Evaluation *Expense
	// Took is the wall-clock time from the iteration's start to its end.
	Took time.Duration
	// Focus is the failing test that it was to make pass; "" for none.
	Focus string

	// known is what those of its proposals used that said it.
	known  consumption
	commit string
}

// keep takes over what was used up to an earlier decision of the same iteration.
// One of the same commit says it again, or nothing; another commit was a further
// proposal, on top of the first.
func (a *Attempt) keep(earlier *Attempt) {
	more := *a
	a.Usage, a.Evaluation, a.Durations, a.Took, a.known = earlier.Usage, earlier.Evaluation, earlier.Durations,
		earlier.Took, earlier.known
	if a.commit != "" && a.commit != earlier.commit {
		a.use(more.Usage, more.Evaluation, more.Durations)
	}
}

// use adds what a further proposal of the iteration used.
func (a *Attempt) use(usage *metric.Usage, evaluation *Expense, durations map[string]float64) {
	a.known = a.consumed()
	a.known.add(usage)
	switch {
	case a.Usage == nil:
		a.Usage = usage
	case usage != nil:
		total := a.Usage.Add(*usage)
		a.Usage = &total
	}
	a.Evaluation = a.Evaluation.Plus(evaluation)
	a.Took += max(min(lasted(durations), math.MaxInt64-max(a.Took, 0)), math.MinInt64-min(a.Took, 0))
	total := maps.Clone(a.Durations)
	if total == nil {
		total = map[string]float64{}
	}
	for stage, seconds := range durations {
		total[stage] = bounded(total[stage] + seconds)
	}
	a.Durations = total
}
