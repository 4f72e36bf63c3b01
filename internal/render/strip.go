package render

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

// Strip is one line of a distribution picture: the samples of a side under its
// name. All strips of a picture share one scale.
type Strip struct {
	Name    string
	Samples []metric.Value
	// Note stands behind the strip, such as the median in the metric's unit.
	Note string
}

// The signs of a strip, by how many samples share a place. The median is a bar.
var signs = []rune(" ·•●")

const medianSign = '┃'

// stripWidth is how wide a strip is in a terminal, in characters.
const stripWidth = 50

// Strips draws the strips over one scale, with the least and the greatest below them.
// Without samples it is "".
func Strips(strips ...Strip) string { return drawStrips(stripWidth, strips) }

func drawStrips(width int, strips []Strip) string {
	name := 0
	var all []metric.Value
	for _, s := range strips {
		name, all = max(name, utf8.RuneCountInString(s.Name)), append(all, s.Samples...)
	}
	if len(all) == 0 {
		return ""
	}
	low, high := slices.MinFunc(all, metric.Value.Cmp), slices.MaxFunc(all, metric.Value.Cmp)
	place := func(v metric.Value) int {
		if low.Cmp(high) == 0 {
			return width / 2
		}
		return int(math.Round((v.Float64()/2 - low.Float64()/2) / (high.Float64()/2 - low.Float64()/2) * float64(width-1)))
	}
	var out strings.Builder
	for _, s := range strips {
		if len(s.Samples) > 0 {
			fmt.Fprintf(&out, "%-*s  %s  %s\n", name, s.Name, s.draw(width, place), s.Note)
		}
	}
	ends := Rounded(low.String(), high.String())
	space := max(width-len(ends[0])-len(ends[1]), 1)
	out.WriteString(strings.Repeat(" ", name+2) + ends[0] + strings.Repeat(" ", space) + ends[1] + "\n")
	return out.String()
}

func (s Strip) draw(width int, place func(metric.Value) int) string {
	counts := make([]int, width)
	for _, v := range s.Samples {
		counts[place(v)]++
	}
	line := make([]rune, width)
	for i, count := range counts {
		line[i] = signs[min(count, len(signs)-1)]
	}
	line[place(statistics.Median(s.Samples))] = medianSign
	return string(line)
}

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
