package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/history"
)

// maxPoints bounds the trajectory: more are too many to read.
const maxPoints = 40

// Chart is the best value after each iteration as a mermaid chart; "" before
// there are two. A longer history is thinned evenly, its end kept.
func Chart(a Account) string {
	type point struct {
		iteration int
		best      float64
	}
	var points []point
	if first := baseline(a.Events); first != nil {
		points = append(points, point{0, first.Metric.Float64()})
	}
	for _, e := range a.Decided() {
		if e.Best != nil && e.Outcome != history.PendingCI {
			points = append(points, point{e.Iteration, e.Best.Float64()})
		}
	}
	if len(points) < 2 {
		return ""
	}
	step := (len(points) + maxPoints - 1) / maxPoints
	var names, values []string
	low, high := points[0].best, points[0].best
	for i, p := range points {
		if (len(points)-1-i)%step != 0 {
			continue
		}
		names = append(names, strconv.Quote(strconv.Itoa(p.iteration)))
		values = append(values, plain(p.best))
		low, high = min(low, p.best), max(high, p.best)
	}
	if low == high {
		low, high = low-1, high+1
	}
	return fmt.Sprintf("```mermaid\nxychart-beta\n    title \"best %s (%s)\"\n    x-axis \"iteration\" [%s]\n    y-axis \"best\" %s --> %s\n    line [%s]\n```\n",
		quoted(metricName(a.Program)), better(a), strings.Join(names, ", "), plain(low), plain(high), strings.Join(values, ", "))
}

// baseline is the first measurement of nothing changed.
func baseline(events []history.Event) *history.Event {
	for i, e := range events {
		if e.Kind == history.Measured && e.Role == history.Baseline && e.Metric != nil {
			return &events[i]
		}
	}
	return nil
}

// plain writes a number as the chart's grammar takes it: without an exponent.
func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// quoted takes out what would end a quotation in the chart's grammar.
func quoted(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"`[]{}<>#;\\", r) {
			return ' '
		}
		return r
	}, text)
}
