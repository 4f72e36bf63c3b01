package render

import (
	"math"
	"slices"
)

// Spark draws numbers as a line of bars, the greatest highest.
func Spark(values []float64) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	low, high := slices.Min(values), slices.Max(values)
	line := make([]rune, len(values))
	for i, v := range values {
		at := len(bars) / 2
		if high > low {
			at = int(math.Round((v - low) / (high - low) * float64(len(bars)-1)))
		}
		line[i] = bars[at]
	}
	return string(line)
}
