package agent

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/org/autoloop/internal/score"
	"github.com/org/autoloop/internal/search"
)

// Tuner is the built-in agent: it proposes new values for the numbers that the
// target files mark with `tune: min..max`, by a seeded search over what the
// ledger says of earlier values. It needs no model and no network.
type Tuner struct{}

// Name is "tuner".
func (Tuner) Name() string { return "tuner" }

// Missing says that no target file has a tune mark.
func (Tuner) Missing(s Situation) string {
	if HasTuneMarks(s.Dir, s.Targets) {
		return ""
	}
	return errNoMarks.Error()
}

// Propose changes the marked numbers.
func (Tuner) Propose(_ context.Context, request Request) (Reply, error) {
	root, err := os.OpenRoot(request.Dir)
	if err != nil {
		return Reply{}, fmt.Errorf("open the tree: %w", err)
	}
	defer func() { _ = root.Close() }()
	tuned, err := proposeTuning(root, request.Targets, historyOf(request), request.Direction, request.Seed)
	if err != nil {
		return Reply{Failure: &Failure{Kind: unavailable(err), Message: err.Error()}}, nil
	}
	params, err := tuned.params()
	if err != nil {
		return Reply{}, err
	}
	if err := tuned.write(root); err != nil {
		return Reply{}, err
	}
	return Reply{Summary: tuned.summary, Params: params}, nil
}

func unavailable(err error) FailureKind {
	var mark *markError
	if errors.Is(err, errNoMarks) || errors.As(err, &mark) {
		return Unavailable
	}
	return Crashed
}

// historyOf is the history as the search reads it. The incumbent has its metric
// in it once: as the accepted trial that made it, or as a trial of the present
// values when no trial of the tuner did.
func historyOf(request Request) []search.Trial {
	last := -1
	for i, tried := range request.History {
		if tried.Accepted {
			last = i
		}
	}
	var trials []search.Trial
	if last < 0 && request.Incumbent != nil {
		trials = append(trials, trialOf(Trial{}, request.Incumbent))
	}
	var best *score.Value
	for i, tried := range request.History {
		if tried.Accepted {
			best = tried.Metric
		}
		switch {
		case tried.Params == nil && i == last:
			trials = append(trials, trialOf(Trial{}, request.Incumbent))
		case tried.Params != nil:
			trials = append(trials, trialOf(tried, refusable(tried, best, request)))
		}
	}
	return trials
}

// refusable is the metric that a trial teaches. One that was refused in spite
// of a better metric (a guardrail, or noise) counts no better than the
// incumbent that it was held against.
func refusable(tried Trial, best *score.Value, request Request) *score.Value {
	if best == nil {
		best = request.Incumbent
	}
	if !tried.Accepted && tried.Metric != nil && best != nil && request.Direction.Better(*tried.Metric, *best) {
		return best
	}
	return tried.Metric
}

func trialOf(tried Trial, metric *score.Value) search.Trial {
	trial := search.Trial{Params: make(map[string]float64, len(tried.Params))}
	for name, exact := range tried.Params {
		trial.Params[name] = exact.Float64()
	}
	if metric != nil {
		measured := metric.Float64()
		trial.Value = &measured
	}
	return trial
}
