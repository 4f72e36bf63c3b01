package main

import "math/rand/v2"

// The constants that decide how well the search does.
const (
	startX  = 6.0 // tune: -10..10
	startY  = 6.0 // tune: -10..10
	spread  = 0.5 // tune: 0.01..10 log
	decay   = 0.9 // tune: 0.5..0.999
	explore = 20  // tune: 1..400 int log
)

// evaluations is how often the search may ask for the function's value: one
// more, and the whole run counts for nothing.
const evaluations = 500

// Search returns the lowest point of f that it found: random steps, first wide,
// then ever smaller. The same seed gives the same answer.
func Search(f func(x, y float64) float64, seed uint64) (x, y float64) {
	random := rand.New(rand.NewPCG(seed, 0))
	x, y = startX, startY
	lowest, width := f(x, y), spread
	for used := 1; used < evaluations; used++ {
		if used > explore {
			width *= decay
		}
		nextX := x + width*random.NormFloat64()
		nextY := y + width*random.NormFloat64()
		if value := f(nextX, nextY); value < lowest {
			x, y, lowest = nextX, nextY, value
		}
	}
	return x, y
}
