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
	for i, tried := range request.History {
		switch {
		case tried.Params != nil:
			place := placed(tried, level, request.Direction)
			trials = append(trials, trialOf(tried, place))
			if tried.Accepted && place != nil {
				level = place
			}
		case i == last:
			trials = append(trials, trialOf(Trial{}, level))
		}
	}
	return trials
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

// placed is the metric that a trial teaches when the incumbent's is level. One
// that was refused in spite of a better metric (a guardrail, or a gain within
// the noise) counts no better than the incumbent that it was held against.
func placed(tried Trial, level *score.Value, direction score.Direction) *score.Value {
	if tried.Metric == nil || level == nil {
		return tried.Metric
	}
	place := *tried.Metric
	if tried.Previous != nil {
		place = place.Sub(*tried.Previous).Add(*level)
	}
	if !tried.Accepted && direction.Better(place, *level) {
		return level
	}
	return &place
}
