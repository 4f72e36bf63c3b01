package main

import (
	"math"
	"math/rand/v2"
)

const (
	// seeds is the number of series, with seeds 1, 2, 3, ….
	seeds = 6
	// samples is the length of a series.
	samples = 2000
	// settling is how many samples at the start do not count.
	settling = 100
	// noise is the standard deviation of the usual noise.
	noise = 0.5
	// strays is the part of the samples that are far off, and stray how far.
	strays, stray = 0.03, 4
)

// series is what a filter is given, and what it should find.
type series struct{ seen, truth []float64 }

// makeSeries makes a slow wave whose pace changes, on a level that drifts and
// sometimes jumps, under normal noise with samples that are far off.
func makeSeries(seed uint64) series {
	random := rand.New(rand.NewPCG(seed, 20))
	s := series{make([]float64, samples), make([]float64, samples)}
	level, slope, phase, pace := 0.0, 0.0, 2*math.Pi*random.Float64(), 0.03
	for i := range samples {
		slope = 0.995*slope + 0.002*random.NormFloat64()
		level += slope
		if random.Float64() < 0.002 {
			level += 3 * random.NormFloat64()
		}
		pace = min(max(pace+0.0005*random.NormFloat64(), 0.01), 0.06)
		phase += pace
		s.truth[i] = level + math.Sin(phase)
		s.seen[i] = s.truth[i] + noise*random.NormFloat64()
		if random.Float64() < strays {
			s.seen[i] += stray * (2*random.Float64() - 1)
		}
	}
	return s
}
