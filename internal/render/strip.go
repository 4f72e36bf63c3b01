package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/metric"
)

// Strip is one line of a distribution picture: the samples of a side under its
// name. All strips of a picture share one scale.
type Strip struct {
	Name    string
	Samples []float64
	// Note stands behind the strip, such as the median in the metric's unit.
	Note string
}

// The signs of a strip, by how many samples share a place. The median is a bar.
var signs = []rune(" ·•●")

const medianSign = '┃'

// Strips draws the strips over one scale, width characters wide, and below them
// the ends of the scale with the labels given. Without samples it is "".
func Strips(strips []Strip, width int, low, high string) string {
	least, most := math.Inf(1), math.Inf(-1)
	name := 0
	for _, s := range strips {
		for _, v := range s.Samples {
			least, most = math.Min(least, v), math.Max(most, v)
		}
		name = max(name, len([]rune(s.Name)))
	}
	if math.IsInf(least, 1) {
		return ""
	}
	place := func(v float64) int {
		if most == least {
			return width / 2
		}
		return int(math.Round((v/2 - least/2) / (most/2 - least/2) * float64(width-1)))
	}
	var out strings.Builder
	for _, s := range strips {
		if len(s.Samples) == 0 {
			continue
		}
		fmt.Fprintf(&out, "%-*s  %s  %s\n", name, s.Name, s.draw(width, place), s.Note)
	}
	space := max(width-len([]rune(low))-len([]rune(high)), 1)
	out.WriteString(strings.Repeat(" ", name+2) + low + strings.Repeat(" ", space) + high + "\n")
	return out.String()
}

func (s Strip) draw(width int, place func(float64) int) string {
	counts := make([]int, width)
	for _, v := range s.Samples {
		counts[place(v)]++
	}
	line := make([]rune, width)
	for i, count := range counts {
		line[i] = signs[min(count, len(signs)-1)]
	}
	line[place(Median(s.Samples))] = medianSign
	return string(line)
}

// Median is for drawing alone; decisions take theirs from the exact numbers.
func Median(samples []float64) float64 {
	ordered := slices.Sorted(slices.Values(samples))
	middle := len(ordered) / 2
	if len(ordered)%2 == 1 {
		return ordered[middle]
	}
	return ordered[middle-1]/2 + ordered[middle]/2
}

// ValueStrip is a Strip of measured values.
type ValueStrip struct {
	Name   string
	Values []metric.Value
	Note   string
}

// ValueStrips draws values for a terminal, with the least and the greatest below
// them.
func ValueStrips(strips ...ValueStrip) string {
	const width = 50
	var drawn []Strip
	var all []metric.Value
	for _, s := range strips {
		strip := Strip{Name: s.Name, Note: s.Note}
		for _, v := range s.Values {
			strip.Samples = append(strip.Samples, v.Float64())
		}
		drawn, all = append(drawn, strip), append(all, s.Values...)
	}
	if len(all) == 0 {
		return ""
	}
	return Strips(drawn, width, slices.MinFunc(all, metric.Value.Cmp).String(), slices.MaxFunc(all, metric.Value.Cmp).String())
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
