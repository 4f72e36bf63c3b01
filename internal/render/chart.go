package render

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
)

// maxPoints is how many iterations a chart has at most, besides the last.
const maxPoints = 40

// Chart is a mermaid chart of the best value after each iteration (the line), of
// every candidate (the bars) and of the target; "" before there are two points.
// A longer history is thinned evenly, its end kept.
func Chart(a Account) Markup {
	var names []string
	var bests, tried []float64 // a candidate that was not measured is NaN
	add := func(name string, best float64, candidate *metric.Value) {
		value := math.NaN()
		if candidate != nil {
			value = candidate.Float64()
		}
		names, bests, tried = append(names, strconv.Quote(name)), append(bests, best), append(tried, value)
	}
	for e := range history.Of[*history.Measured](slices.All(a.Events)) {
		if e.Role == history.Baseline && e.Metric != nil {
			add("0", e.Metric.Float64(), nil)
			break
		}
	}
	decided, past := a.Decided(), a.Summary()
	every := 1 + len(decided)/maxPoints
	for i, e := range decided {
		best := e.Best
		if e.Outcome == history.PendingCI && e.PreviousBest != nil {
			best = e.PreviousBest // it is not the best before CI has said so
		}
		if best != nil && (e.Iteration%every == 0 || i == len(decided)-1) {
			add(strconv.Itoa(e.Iteration), best.Float64(), e.Metric)
		}
	}
	if len(names) < 2 {
		return ""
	}
	target, lines := past.Target(a.Program.Target), [][]float64{bests}
	name := strings.TrimSpace(chartMarks().ReplaceAllString(Said(a.metric()), " "))
	title := "best " + name + " (" + better(a.Program.Direction) + "), every candidate"
	if target != nil {
		title += ", target " + Figure(target)
		lines = append(lines, slices.Repeat([]float64{target.Float64()}, len(bests)))
	}
	low, high := axis(slices.Concat(lines...), tried)
	for i, value := range tried {
		if tried[i] = min(max(value, low), high); math.IsNaN(value) {
			tried[i] = low // no bar
		}
	}
	text := "```mermaid\nxychart-beta\n    title \"" + title + "\"\n    x-axis \"iteration\" [" + strings.Join(names, ", ") +
		"]\n    y-axis \"" + name + "\" " + chartNumbers(low) + " --> " + chartNumbers(high) +
		"\n    bar [" + chartNumbers(tried...) + "]\n"
	for _, line := range lines {
		text += "    line [" + chartNumbers(line...) + "]\n"
	}
	return Markup(text + "```\n")
}

// axis are the bounds of the vertical axis: all of the lines is on it, and candidates as
// far as twice that distance, so that one that is far off does not make a line of
// everything else.
func axis(lines, tried []float64) (low, high float64) {
	low, high = slices.Min(lines), slices.Max(lines)
	around := 2 * max(high-low, math.Abs(high)/10, math.Abs(low)/10)
	least, most := low-around, high+around
	for _, value := range tried {
		if !math.IsNaN(value) {
			low, high = min(low, max(value, least)), max(high, min(value, most))
		}
	}
	if high > low {
		return low - (high-low)/20, high // the lowest candidate has a bar too
	}
	return low - 1, high + 1
}

// chartNumbers writes numbers as the chart's grammar takes them: without exponents, and
// with as many digits as a chart can show.
func chartNumbers(list ...float64) string {
	texts := make([]string, len(list))
	for i, f := range list {
		if short, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 6, 64), 64); err == nil {
			f = short
		}
		texts[i] = strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strings.Join(texts, ", ")
}

// chartMarks are what would end a quotation in the chart's grammar.
var chartMarks = lazyregexp.New("[\"`[\\]{}<>#;\\\\]")
