package taskrun

import (
	"context"
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/score"
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
		return Standalone{Expense: session.expense()}, err
	}
	if err := session.crashed(); err != nil {
		return Standalone{Expense: session.expense()}, err
	}
	judged, problems, err := session.judgeAll(ctx, repeats)
	if err != nil {
		return Standalone{Expense: session.expense()}, err
	}
	return Standalone{session.outcome(theBaseline, repeats, judged), problems, session.expense()}, nil
}

// String says what each task scored, what failed, and the score of them all.
func (s Standalone) String() string {
	var out strings.Builder
	for _, scored := range s.Outcome.Scores {
		for k, run := range scored.Runs {
			fmt.Fprintf(&out, "task %s, run %d: %s\n", scored.TaskID, k+1, run.Objective)
			if run.Failure != "" {
				fmt.Fprintf(&out, "  failed: %s\n", run.Failure)
			}
			for _, check := range run.Checks {
				if !check.Passed && run.Failure == "" {
					fmt.Fprintf(&out, "  failed: %s %s: %s\n", check.Kind, check.Name, check.Detail)
				}
			}
		}
	}
	if value, ok := score.Metric(s.Outcome); ok {
		fmt.Fprintf(&out, "%s: score %s over %d tasks\n", s.Outcome.ConfigLabel, value, len(s.Outcome.Scores))
	}
	return out.String()
}
