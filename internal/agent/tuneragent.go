package agent

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/org/autoloop/internal/agent/tuner"
	"github.com/org/autoloop/internal/metric"
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
	return tuner.ErrNoMarks.Error()
}

// Propose changes the marked numbers.
func (Tuner) Propose(_ context.Context, request Request) (Reply, error) {
	root, err := os.OpenRoot(request.Dir)
	if err != nil {
		return Reply{}, fmt.Errorf("open the tree: %w", err)
	}
	defer func() { _ = root.Close() }()
	files, tuned, err := proposeTuning(root, request.Targets, historyOf(request), request.Direction,
		request.Seed+int64(request.Earlier))
	if errors.Is(err, tuner.ErrExhausted) {
		return Reply{Summary: exhausted}, nil
	}
	if err != nil {
		return Reply{Failure: &Failure{Kind: unavailable(err), Message: err.Error()}}, nil
	}
	params, err := tuned.Params()
	if err != nil {
		return Reply{}, err
	}
	if err := writeTuning(root, files, tuned.Values); err != nil {
		return Reply{}, err
	}
	return Reply{Summary: tuned.Summary, Params: params}, nil
}

// exhausted says why the tuner changes nothing, and what helps.
const exhausted = "nothing left to try: every combination of the marked values was tried; " +
	"widen a range, mark another number, or ask another agent"

func unavailable(err error) FailureKind {
	if _, bad := errors.AsType[*tuner.MarkError](err); bad || errors.Is(err, tuner.ErrNoMarks) {
		return Unavailable
	}
	return Crashed
}

func trialOf(tried PastIteration, key *metric.Value) tuner.Observation {
	trial := tuner.Observation{Params: make(map[string]float64, len(tried.Params))}
	for name, exact := range tried.Params {
		trial.Params[name] = exact.Float64()
	}
	if key != nil {
		trial.Value = new(key.Float64())
	}
	return trial
}
