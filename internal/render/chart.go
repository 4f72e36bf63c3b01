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

// Chart is a mermaid chart of the best value after each iteration that was measured (the
// line), of its candidate (the bars) and of the target; "" before there are two points.
// A longer history is thinned evenly, its end kept.
func Chart(a Account) Markup {
	var names []string
	var bests, tried []float64
	add := func(name string, best, candidate *metric.Value) {
		names, bests = append(names, strconv.Quote(name)), append(bests, best.Float64())
		tried = append(tried, candidate.Float64())
	}
	for e := range history.Of[*history.Measured](slices.All(a.Events)) {
		if e.Role == history.Baseline && e.Metric != nil {
			add("0", e.Metric, e.Metric)
			break
		}
	}
	decided := slices.DeleteFunc(a.Decided(), func(e *history.Decided) bool { return e.Metric == nil || e.Best == nil })
	every := 1 + len(decided)/maxPoints
	for i, e := range decided {
		best := e.Best
		if e.Outcome == history.PendingCI && e.PreviousBest != nil {
			best = e.PreviousBest // it is not the best before CI has said so
		}
		if (i+1)%every == 0 || i == len(decided)-1 {
			add(strconv.Itoa(e.Iteration), best, e.Metric)
		}
	}
	if len(names) < 2 {
		return ""
	}
	past := a.Summary()
	target, lines := past.Target(a.Program.Target), [][]float64{bests}
	name := strings.TrimSpace(chartMarks().ReplaceAllString(Said(a.metric()), " "))
	title := "best " + name + " (" + better(a.Program.Direction) + "), every candidate"
	if target != nil {
		title += ", target " + Figure(target)
		lines = append(lines, slices.Repeat([]float64{target.Float64()}, len(bests)))
	}
	low, high := axis(slices.Concat(lines...), tried)
	for i, value := range tried {
		tried[i] = min(max(value, low), high)
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
		low, high = min(low, max(value, least)), max(high, min(value, most))
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
