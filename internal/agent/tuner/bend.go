package tuner

import (
	"math"
	"slices"
)

// bendAt is where costs become logarithmic, in units of the median's distance
// from the best.
const bendAt = 0.3

// bend returns the costs with those far above the best on a logarithmic scale,
// so that a steep valley's walls do not hide its floor, and the logarithm of
// the change of density, by which the likelihoods of the two scales compare.
// It is not ok when half of the costs are the best.
func bend(costs []float64) (bent []float64, density float64, ok bool) {
	sorted := slices.Sorted(slices.Values(costs))
	best := sorted[0]
	unit := bendAt * (sorted[len(sorted)/2] - best)
	if unit <= 0 {
		return nil, 0, false
	}
	bent = slices.Clone(costs)
	for i, c := range bent {
		if above := c - best; above > unit {
			bent[i] = best + unit*(1+math.Log(above/unit))
			density += math.Log(unit / above)
		}
	}
	return bent, density, true
}
