package main

import (
	"math"
	"slices"
)

// The constants of the filter. At first it smooths exponentially and nothing
// else: the other constants switch their parts off.
const (
	smooth = 0.6  // tune: 0.02..1 log
	trend  = 0.0  // tune: 0..0.3
	fade   = 0.9  // tune: 0..1
	clip   = 20.0 // tune: 0.5..20 log
	learn  = 0.05 // tune: 0.002..0.5 log
	window = 1    // tune: 1..15 int
	passes = 1    // tune: 1..4 int
	lead   = 0.0  // tune: 0..12
)

// Filter cleans one series, sample by sample.
type Filter struct {
	begun  bool
	recent []float64
	spread float64 // the usual distance between what was expected and what came
	level  [passes]float64
	slope  float64
}

// New returns a filter that has seen nothing.
func New() *Filter { return &Filter{spread: 1} }

// Next takes one sample and returns what the signal is believed to be.
func (f *Filter) Next(x float64) float64 {
	x = f.median(x)
	if !f.begun {
		f.begun = true
		for i := range f.level {
			f.level[i] = x
		}
	}
	expected := f.level[0] + f.slope
	surprise := x - expected
	f.spread += learn * (math.Abs(surprise) - f.spread)
	surprise = min(max(surprise, -clip*f.spread), clip*f.spread)
	f.slope = fade*f.slope + trend*smooth*surprise
	f.level[0] = expected + smooth*surprise
	for i := 1; i < passes; i++ {
		f.level[i] += smooth * (f.level[i-1] - f.level[i])
	}
	return f.level[passes-1] + lead*f.slope
}

// median replaces a sample by the median of the last ones.
func (f *Filter) median(x float64) float64 {
	f.recent = append(f.recent, x)
	if len(f.recent) > window {
		f.recent = f.recent[1:]
	}
	sorted := slices.Sorted(slices.Values(f.recent))
	return sorted[len(sorted)/2]
}
