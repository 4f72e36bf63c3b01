package main

import "math"

const (
	// earliest and latest bound the delays that are looked at, in samples.
	earliest, latest = -10, 60
	// tiny keeps the logarithm finite for an answer without error.
	tiny = 1e-12
)

// scoreSeries returns how much cleaner the answer is than what was seen, in
// decibels: the ratio of their mean squared errors, the answer's taken at the
// delay that suits it best. That delay, in samples, is the lag.
func scoreSeries(s series, answer []float64) (clarity, lag float64) {
	best := earliest
	errors := map[int]float64{}
	for delay := earliest; delay <= latest; delay++ {
		errors[delay] = meanError(s.truth, answer, delay)
		if errors[delay] < errors[best] {
			best = delay
		}
	}
	clarity = 10 * math.Log10(meanError(s.truth, s.seen, 0)/(errors[best]+tiny))
	lag = float64(best)
	if best > earliest && best < latest {
		lag += vertex(errors[best-1], errors[best], errors[best+1])
	}
	return clarity, lag
}

// meanError is the mean squared distance between the truth and the answer that
// came delay samples later. Every delay is held against the same truth.
func meanError(truth, answer []float64, delay int) float64 {
	sum, count := 0.0, 0
	for i := settling; i < len(truth)-latest; i++ {
		distance := answer[i+delay] - truth[i]
		sum += distance * distance
		count++
	}
	return sum / float64(count)
}

// vertex is where the parabola through three neighbouring points, of which the
// middle one is lowest, has its lowest point: between -0.5 and 0.5.
func vertex(before, at, after float64) float64 {
	curve := before - 2*at + after
	if !(curve > 0) {
		return 0
	}
	return (before - after) / (2 * curve)
}
