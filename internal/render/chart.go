package render

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
)

// point is one iteration in the chart.
type point struct {
	iteration int
	best      float64
	candidate *float64 // what was measured, nil for nothing
}

// maxPoints is how many iterations a chart has at most, besides the last.
const maxPoints = 40

// Chart is a mermaid chart of the best value after each iteration (the line), of
// every candidate (the bars) and of the target; "" before there are two points.
// A longer history is thinned evenly, its end kept.
func Chart(a Account) string {
	all := points(a)
	if len(all) < 2 {
		return ""
	}
	summary := a.Summary()
	every := 1 + summary.Decided()/maxPoints
	last := all[len(all)-1]
	shown := slices.DeleteFunc(all, func(p point) bool { return p.iteration%every != 0 && p != last })
	target := summary.Target(a.Program.Target)
	low, high := bounds(shown, target)
	var names, bests, candidates []string
	for _, p := range shown {
		names = append(names, strconv.Quote(strconv.Itoa(p.iteration)))
		bests = append(bests, chartNumber(p.best))
		value := low // no bar
		if p.candidate != nil {
			value = min(max(*p.candidate, low), high)
		}
		candidates = append(candidates, chartNumber(value))
	}
	metric := quoted(metricName(a.Program))
	title := fmt.Sprintf("best %s (%s), every candidate", metric, better(a))
	lines := fmt.Sprintf("    bar [%s]\n    line [%s]\n", strings.Join(candidates, ", "), strings.Join(bests, ", "))
	if target != nil {
		title += ", target " + Figure(target)
		level := strings.Repeat(", "+chartNumber(target.Float64()), len(shown))
		lines += fmt.Sprintf("    line [%s]\n", level[2:])
	}
	return fmt.Sprintf("```mermaid\nxychart-beta\n    title \"%s\"\n    x-axis \"iteration\" [%s]\n"+
		"    y-axis \"%s\" %s --> %s\n%s```\n",
		title, strings.Join(names, ", "), metric, chartNumber(low), chartNumber(high), lines)
}

// points are the baseline and all decisions that had something to compare with.
func points(a Account) []point {
	var all []point
	for e := range history.Of[*history.Measured](slices.All(a.Events)) {
		if e.Role == history.Baseline && e.Metric != nil {
			all = append(all, point{best: e.Metric.Float64()})
			break
		}
	}
	for _, e := range a.Decided() {
		if e.Best == nil {
			continue
		}
		p := point{iteration: e.Iteration, best: e.Best.Float64()}
		if e.Outcome == history.PendingCI && e.PreviousBest != nil {
			p.best = e.PreviousBest.Float64() // it is not the best before CI has said so
		}
		if e.Metric != nil {
			p.candidate = new(e.Metric.Float64())
		}
		all = append(all, p)
	}
	return all
}

// bounds are those of the vertical axis: what was best and the target are on it,
// and candidates as far as twice that distance, so that one that is far off does
// not make a line of everything else.
func bounds(shown []point, target *metric.Value) (low, high float64) {
	low, high = shown[0].best, shown[0].best
	include := func(f float64) { low, high = min(low, f), max(high, f) }
	for _, p := range shown {
		include(p.best)
	}
	if target != nil {
		include(target.Float64())
	}
	distance := max(high-low, math.Abs(high)/10, math.Abs(low)/10)
	least, most := low-2*distance, high+2*distance
	for _, p := range shown {
		if p.candidate != nil {
			include(min(max(*p.candidate, least), most))
		}
	}
	if margin := (high - low) / 20; margin > 0 {
		return low - margin, high // the lowest candidate has a bar too
	}
	return low - 1, high + 1
}

// chartNumber writes a number as the chart's grammar takes it: without an exponent, and
// with as many digits as a chart can show.
func chartNumber(f float64) string {
	short, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 6, 64), 64)
	if err != nil {
		short = f
	}
	return strconv.FormatFloat(short, 'f', -1, 64)
}

var chartMarks = lazyregexp.New("[\"`[\\]{}<>#;\\\\]")

// quoted takes out what would end a quotation in the chart's grammar.
func quoted(text string) string { return chartMarks().ReplaceAllString(text, " ") }
