package taskrun

import (
	"context"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/tasks/format"
)

// Standalone is what one configuration came to.
type Standalone struct {
	Outcome  format.SuiteOutcome
	Warnings []string
	// Expense is what this session used, also when it came to nothing; what was
	// kept from an earlier one costs nothing.
	Expense history.Expense
}

// Measure runs the suite for one configuration alone: five times where a model
// is known to take part, else once, unless Options.Runs says how often. The runs
// serve a later comparison in which the configuration is the baseline. Errors
// are those of Run.
func Measure(ctx context.Context, s *TaskSuite, side Side, o Options) (Standalone, error) {
	session, err := prepare(ctx, s, side, side, o)
	if err != nil {
		return Standalone{}, err
	}
	session.standalone = true
	repeats := session.first()
	if err := session.upTo(ctx, repeats); err != nil {
		return Standalone{Expense: session.spent.expense}, err
	}
	if err := session.crashed(); err != nil {
		return Standalone{Expense: session.spent.expense}, err
	}
	judged, problems, err := session.judgeAll(ctx, repeats)
	if err != nil {
		return Standalone{Expense: session.spent.expense}, err
	}
	return Standalone{session.outcome(theBaseline, repeats, judged), problems, session.spent.expense}, nil
}
