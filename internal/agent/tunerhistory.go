package agent

import (
	"github.com/org/autoloop/internal/agent/tuner"
	"github.com/org/autoloop/internal/metric"
)

// historyOf is the history as the search reads it. Every trial is placed by its
// difference from the incumbent that it was compared with, so that a machine
// whose speed drifts, an incumbent that is measured anew, and another agent's
// gain in between leave the earlier trials where they were.
//
// The incumbent is in it once: as the trial of the tuner that made it, or as
// the present values when the start or another agent made them.
func historyOf(request Request) []tuner.Observation {
	last := lastAccepted(request.History)
	var trials []tuner.Observation
	if start := startLevel(request); last < 0 && start != nil {
		trials = append(trials, trialOf(PastIteration{}, start))
	}
	places := placesOf(request)
	for i, tried := range request.History {
		switch {
		case tried.Params != nil:
			trials = append(trials, trialOf(tried, tried.lesson(places[i], request.Direction)))
		case i == last:
			trials = append(trials, trialOf(PastIteration{}, places[i].level))
		}
	}
	return trials
}

// place is where a trial lies beside all others: its metric, the level of the
// incumbent that it was compared with, and that of the one after its iteration.
type place struct{ metric, level, after *metric.Value }

// placesOf places every trial.
func placesOf(request Request) []place {
	level := startLevel(request)
	places := make([]place, len(request.History))
	for start := 0; start < len(places); {
		end := iterationEnd(request.History, start)
		next := level
		for i := start; i < end; i++ {
			tried := request.History[i]
			places[i].metric, places[i].level = tried.beside(level), level
			if tried.Accepted && tried.Params != nil {
				next = places[i].metric
			}
		}
		for i := start; i < end; i++ {
			places[i].after = next
		}
		level, start = next, end
	}
	return places
}

// iterationEnd is the end of the proposals of one iteration, which were compared
// with the same incumbent.
func iterationEnd(history []PastIteration, start int) int {
	end := start + 1
	for end < len(history) && history[end].Iteration == history[start].Iteration {
		end++
	}
	return end
}

// startLevel is the first incumbent's number; nil when none was measured.
func startLevel(request Request) *metric.Value {
	for _, tried := range request.History {
		if tried.Previous != nil {
			return tried.Previous
		}
	}
	return request.Incumbent
}

func lastAccepted(history []PastIteration) int {
	last := -1
	for i, tried := range history {
		if tried.Accepted {
			last = i
		}
	}
	return last
}

// beside is the metric as it would be were the incumbent's level.
func (t PastIteration) beside(level *metric.Value) *metric.Value {
	if t.Metric == nil || t.Previous == nil || level == nil {
		return t.Metric
	}
	place := t.Metric.Sub(*t.Previous).Add(*level)
	return &place
}

// lesson is the metric that a trial teaches: what it was beside the incumbent's
// level. One that was refused in spite of a better metric than the incumbent
// after it (a guardrail, or a gain within the noise) counts no better than that.
func (t PastIteration) lesson(at place, direction metric.Direction) *metric.Value {
	if !t.Accepted && at.metric != nil && at.after != nil && direction.Better(*at.metric, *at.after) {
		return at.after
	}
	return at.metric
}
