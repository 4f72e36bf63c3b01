package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/org/autoloop/internal/agent/tuner"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// Tuner is the built-in agent: it proposes new values for the numbers that the
// target files mark with `tune: min..max`, by a seeded search over what the
// ledger says of earlier values. It needs no model and no network.
type Tuner struct{}

// Name is "tuner".
func (Tuner) Name() string { return "tuner" }

// Missing says that no target file has a tune mark. A bad mark counts, so that the tuner is
// chosen and can say what is wrong with it.
func (Tuner) Missing(request Request) string {
	root, err := os.OpenRoot(request.Dir)
	if err == nil {
		defer root.Close()
		if marked, err := readMarked(root, request.Targets); err != nil || len(marked) > 0 {
			return ""
		}
	}
	return tuner.ErrNoMarks.Error()
}

// exhausted says why the tuner changes nothing, and what helps.
const exhausted = "nothing left to try: every combination of the marked values was tried; " +
	"widen a range, mark another number, or ask another agent"

// Propose changes the marked numbers, in the files as they are: their modes stay.
func (Tuner) Propose(_ context.Context, request Request) (Reply, error) {
	root, err := os.OpenRoot(request.Dir)
	if err != nil {
		return Reply{}, fmt.Errorf("open the tree: %w", err)
	}
	defer root.Close()
	marked, err := readMarked(root, request.Targets)
	var values map[string]float64
	var reply Reply
	if err == nil {
		values, reply.Summary, err = tuner.Tune(marked, historyOf(request), request.Direction, request.Seed)
	}
	switch {
	case errors.Is(err, tuner.ErrExhausted):
		return Reply{Summary: exhausted}, nil
	case err != nil:
		return Reply{Failure: &Failure{Kind: Unavailable, Message: err.Error()}}, nil
	}
	reply.Params = make(map[string]metric.Value, len(values))
	for name, value := range values {
		if reply.Params[name], err = metric.FromFloat(value); err != nil {
			return Reply{}, fmt.Errorf("parameter %s: %w", name, err)
		}
	}
	for _, file := range marked {
		text := file.Rewrite(values)
		if bytes.Equal(text, file.Text) {
			continue
		}
		if err := root.WriteFile(file.Path, text, 0o666); err != nil {
			return Reply{}, fmt.Errorf("write target file: %w", err)
		}
	}
	return reply, nil
}

// maxTuned bounds one target file; larger ones have no marks.
const maxTuned = 10 << 20

// readMarked reads the target files that have marks, in the order given; they are relative and
// with slashes. What is missing, no regular file, or too large has no marks, and no link is
// followed. The error says which mark is bad.
func readMarked(root *os.Root, paths []string) (marked []tuner.File, err error) {
	for _, path := range paths {
		text, err := files.ReadRegular(root, path, maxTuned+1)
		if err != nil || len(text) > maxTuned {
			continue
		}
		file, err := tuner.ParseFile(path, text)
		if err != nil {
			return nil, err
		}
		if len(file.Marks) > 0 {
			marked = append(marked, file)
		}
	}
	return marked, nil
}

// historyOf is the history as the search reads it. Every trial is placed by its
// difference from the incumbent that it was compared with, so that a machine
// whose speed drifts, an incumbent that is measured anew, and another agent's
// gain in between leave the earlier trials where they were.
//
// The incumbent is in it once: as the trial of the tuner that made it, or as
// the present values when the start or another agent made them.
func historyOf(request Request) []tuner.Observation {
	level, last := request.Incumbent, -1 // the first incumbent's number, and the iteration that made the present one
	for i, tried := range slices.Backward(request.History) {
		if tried.PreviousBest != nil {
			level = tried.PreviousBest
		}
		if tried.Outcome == history.Accepted && last < 0 {
			last = i
		}
	}
	var trials []tuner.Observation
	if last < 0 && level != nil {
		trials = append(trials, tuner.Observation{Value: level})
	}
	beside := func(tried *history.Decided) *metric.Value {
		if tried.Metric == nil || tried.PreviousBest == nil || level == nil {
			return tried.Metric
		}
		return new(tried.Metric.Sub(*tried.PreviousBest).Add(*level))
	}
	next := level // the incumbent's after the iteration, whose proposals are all compared with the one before
	for i, tried := range request.History {
		if i == 0 || tried.Iteration != request.History[i-1].Iteration {
			level = next
			for _, same := range request.History[i:] {
				if same.Iteration == tried.Iteration && same.Outcome == history.Accepted && same.Params != nil {
					next = beside(same)
				}
			}
		}
		if tried.Params == nil {
			if i == last {
				trials = append(trials, tuner.Observation{Value: level})
			}
			continue
		}
		measured := beside(tried)
		if tried.Outcome != history.Accepted && measured != nil && next != nil && request.Direction.Better(*measured, *next) {
			// Refused in spite of a better metric (a guardrail, or a gain within the noise): it
			// counts no better than what was there.
			measured = next
		}
		trials = append(trials, tuner.Observation{Params: tried.Params, Value: measured})
	}
	return trials
}
