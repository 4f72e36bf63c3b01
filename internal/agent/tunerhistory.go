package agent

import (
	"github.com/org/autoloop/internal/score"
	"github.com/org/autoloop/internal/search"
)

// historyOf is the history as the search reads it. Every trial is placed by its
// difference from the incumbent that it was compared with, so that a machine
// whose speed drifts, an incumbent that is measured anew, and another agent's
// gain in between leave the earlier trials where they were.
//
// The incumbent is in it once: as the trial of the tuner that made it, or as
// the present values when the start or another agent made them.
func historyOf(request Request) []search.Trial {
	level, last := startLevel(request), lastAccepted(request.History)
	var trials []search.Trial
	if last < 0 && level != nil {
		trials = append(trials, trialOf(Trial{}, level))
	}
	for start := 0; start < len(request.History); {
		end := iterationEnd(request.History, start)
		next := level
		for _, tried := range request.History[start:end] {
			if tried.Accepted && tried.Params != nil {
				next = tried.beside(level)
			}
		}
		for k, tried := range request.History[start:end] {
			switch {
			case tried.Params != nil:
				trials = append(trials, trialOf(tried, tried.lesson(level, next, request.Direction)))
			case start+k == last:
				trials = append(trials, trialOf(Trial{}, level))
			}
		}
		level, start = next, end
	}
	return trials
}

// iterationEnd is the end of the proposals of one iteration, which were compared
// with the same incumbent.
func iterationEnd(history []Trial, start int) int {
	end := start + 1
	for end < len(history) && history[end].Iteration == history[start].Iteration {
		end++
	}
	return end
}

// startLevel is the first incumbent's number; nil when none was measured.
func startLevel(request Request) *score.Value {
	for _, tried := range request.History {
		if tried.Previous != nil {
			return tried.Previous
		}
	}
	return request.Incumbent
}

func lastAccepted(history []Trial) int {
	last := -1
	for i, tried := range history {
		if tried.Accepted {
			last = i
		}
	}
	return last
}

// beside is the metric as it would be were the incumbent's level.
func (t Trial) beside(level *score.Value) *score.Value {
	if t.Metric == nil || t.Previous == nil || level == nil {
		return t.Metric
	}
	place := t.Metric.Sub(*t.Previous).Add(*level)
	return &place
}

// lesson is the metric that a trial teaches: what it was beside the incumbent's
// level. One that was refused in spite of a better metric than the incumbent
// after it (a guardrail, or a gain within the noise) counts no better than that.
func (t Trial) lesson(level, after *score.Value, direction score.Direction) *score.Value {
	place := t.beside(level)
	if !t.Accepted && place != nil && after != nil && direction.Better(*place, *after) {
		return after
	}
	return place
}
