package compare

import (
	"context"

	"github.com/org/autoloop/internal/suite"
)

// Measure runs the suite for one configuration alone: five times where a model
// is known to take part, else once, unless Options.Runs says how often. The runs
// serve a later comparison in which the configuration is the baseline. Errors
// are those of Run.
func Measure(ctx context.Context, s *Suite, side Side, o Options) (outcome suite.Outcome, warnings []string, err error) {
	session, err := prepare(ctx, s, side, side, o)
	if err != nil {
		return outcome, nil, err
	}
	session.alone = true
	repeats := session.first()
	if err := session.upTo(ctx, repeats); err != nil {
		return outcome, nil, err
	}
	judged, problems, err := session.judgeAll(ctx, repeats)
	if err != nil {
		return outcome, nil, err
	}
	return session.outcome(theBaseline, repeats, judged), problems, nil
}
