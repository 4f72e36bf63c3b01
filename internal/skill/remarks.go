package skill

import (
	"strings"

	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill/evals"
)

// unverified marks a gain that was seen once: noise alone could have made it.
const unverified = "unverified: measured once"

// withinNoise says of a single run that it is too near to the best to mean
// much, else "".
func (s *state) withinNoise(found Measured) string {
	if found.Fault != "" || found.Rate == nil || !found.Graded {
		return ""
	}
	now, best := evals.RateValue(found.Rate), evals.RateValue(s.best.Rate)
	if !render.WithinNoise(now, best) {
		return ""
	}
	return now.Sub(best).Signed() + " is within a grader's noise"
}

// joinRemarks puts what there is to say into one line.
func joinRemarks(parts ...string) string {
	var there []string
	for _, part := range parts {
		if part != "" {
			there = append(there, part)
		}
	}
	return strings.Join(there, " — ")
}
