package tuner

import (
	"cmp"
	"math"
	"slices"
)

const (
	// leastModelled and mostModelled bound how many trials a model is made of;
	// in between it is two for each parameter.
	leastModelled, mostModelled = 80, 240
	climbs, steps               = 4, 400
)

// promising returns the point near the centre from which the model expects the greatest
// improvement, found by random steps that become smaller; nil while there is nothing to
// learn from.
func (s *search) promising() []float64 {
	low, high := make([]float64, len(s.centre)), make([]float64, len(s.centre))
	for i, c := range s.centre {
		reach := max(s.radius, 1.01*s.space[i].spacing(c))
		low[i], high[i] = max(c-reach, 0), min(c+reach, 1)
	}
	points, costs := s.nearest()
	m := fit(points, costs, s.centre, math.Sqrt(float64(len(s.centre)))*s.radius)
	if m == nil {
		return nil
	}
	best := math.Inf(1)
	for _, p := range append(points, s.centre) {
		mean, _ := m.predict(p)
		best = min(best, mean)
	}
	var top []float64
	most := math.Inf(-1)
	for range climbs {
		here, gain := s.centre, math.Inf(-1)
		for step := range steps {
			width, share := math.Pow(1e-4, float64(step)/steps), s.rng.Float64()
			at := slices.Clone(here)
			for i, p := range s.space {
				if s.rng.Float64() < share {
					at[i] = min(max(at[i]+width*s.rng.NormFloat64()*(high[i]-low[i]), low[i]), high[i])
				}
				if p.Step > 0 || p.Int {
					at[i] = p.unit(p.Snap(p.value(at[i]), 0))
				}
			}
			mean, deviation := m.predict(at)
			if expected := logImprovement(best-mean, deviation); expected > gain {
				here, gain = at, expected
			}
		}
		if gain > most {
			top, most = here, gain
		}
	}
	return top
}

// logImprovement is the logarithm of the expected improvement E[max(0, X)] of a
// normal variable X with mean gain (Jones, Schonlau and Welch, 1998).
func logImprovement(gain, deviation float64) float64 {
	t := gain / deviation
	if t > -5 {
		density := math.Exp(-t*t/2) / math.Sqrt(2*math.Pi)
		return math.Log(deviation * (density + t*math.Erfc(-t/math.Sqrt2)/2))
	}
	// Far in the tail, to leading order: φ(t)/t².
	return math.Log(deviation) - t*t/2 - math.Log(t*t*math.Sqrt(2*math.Pi))
}

// nearest returns the trials that the model is made of, those nearest to the
// centre, with costs between 0 and 1 and failures as bad as the worst.
func (s *search) nearest() (points [][]float64, costs []float64) {
	best, worst := math.Inf(1), math.Inf(-1)
	for _, t := range s.trials {
		if !math.IsInf(t.cost, 1) {
			best, worst = min(best, t.cost), max(worst, t.cost)
		}
	}
	near := slices.Clone(s.trials)
	slices.SortStableFunc(near, func(a, b trial) int {
		return cmp.Compare(distance(a.at, s.centre), distance(b.at, s.centre))
	})
	for _, t := range near[:min(len(near), min(max(leastModelled, 2*len(s.space)), mostModelled))] {
		cost := 0.0
		if worst > best { // halves cannot overflow
			cost = (min(t.cost, worst)/2 - best/2) / (worst/2 - best/2)
		}
		points, costs = append(points, t.at), append(costs, cost)
	}
	return points, costs
}
