package decision

import (
	"slices"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

// disagreeing is the p-value below which two samples of the same files are of two
// machines, or of luck. Three runs beside eight can reach it.
const disagreeing = 0.02

// Disagreement says that the incumbent, measured anew, is not what is on record,
// nil when it is, or when too little was measured to tell. A difference counts when
// it is no chance and twice as large as the recorded samples are apart: recorded
// ones that lie together by luck are compared with again and again.
func Disagreement(recorded, anew []metric.Value) *Reason {
	if len(recorded) == 0 || len(anew) == 0 || Agrees(recorded, anew) {
		return nil
	}
	was, is, apart := statistics.Median(recorded), statistics.Median(anew), width(recorded)
	steady := len(recorded) > 1 && apart.Sign() == 0 && statistics.Same(anew) // leaves nothing to chance
	if !steady && statistics.P(recorded, anew) >= disagreeing {
		return nil
	}
	return &Reason{Kind: Disagrees, Value: &is, Count: len(anew), Beside: &was, Of: len(recorded), High: &apart}
}

// Agrees reports whether the incumbent, measured anew, is as near to what is on
// record as its samples are to each other, twice. What is farther away and may
// still be chance, as after few runs, neither agrees nor disagrees.
func Agrees(recorded, anew []metric.Value) bool {
	if len(recorded) == 0 || len(anew) == 0 {
		return false
	}
	apart := width(recorded)
	return statistics.Median(anew).Sub(statistics.Median(recorded)).Abs().Cmp(apart.Add(apart)) <= 0
}

// width is how far the greatest sample is from the least.
func width(samples []metric.Value) metric.Value {
	return slices.MaxFunc(samples, metric.Value.Cmp).Sub(slices.MinFunc(samples, metric.Value.Cmp))
}
