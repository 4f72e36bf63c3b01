package render

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/metric"
)

// maxPoints is how many iterations a chart has at most, besides the last.
const maxPoints = 40

// Chart is a mermaid chart of the best value after each iteration, and of the target; "" while
// that is one number. A longer history is thinned evenly, its end kept.
func Chart(a Account) Markup {
	var names []string
	var bests []float64
	add := func(name string, best *metric.Value) {
		names, bests = append(names, strconv.Quote(name)), append(bests, best.Float64())
	}
	for _, e := range history.Of[*history.Measured](a.Events) {
		if e.Role == history.Baseline && e.Metric != nil {
			add("0", e.Metric)
			break
		}
	}
	decided := slices.DeleteFunc(slices.Clone(a.Attempts), func(e history.Attempt) bool { return e.Best == nil })
	every := 1 + len(decided)/maxPoints
	for i, e := range decided {
		best := e.Best
		if e.Outcome == history.PendingCI && e.PreviousBest != nil {
			best = e.PreviousBest // it is not the best before CI has said so
		}
		if (i+1)%every == 0 || i == len(decided)-1 {
			add(strconv.Itoa(e.Iteration), best)
		}
	}
	if len(bests) < 2 || slices.Min(bests) == slices.Max(bests) {
		return ""
	}
	name := strings.TrimSpace(chartMarks().ReplaceAllString(Said(a.metric()), " "))
	title, lines := "best "+name+" ("+better(a.Program.Direction)+")", "    line ["+chartNumbers(bests)+"]\n"
	if target := a.Target(a.Program.Target); target != nil {
		title += ", target " + Figure(target)
		lines += "    line [" + chartNumbers(slices.Repeat([]float64{target.Float64()}, len(bests))) + "]\n"
	}
	return Markup("```mermaid\nxychart-beta\n    title \"" + title + "\"\n    x-axis \"iteration\" [" +
		strings.Join(names, ", ") + "]\n    y-axis \"" + name + "\"\n" + lines + "```\n")
}

// chartNumbers writes numbers as the chart's grammar takes them: without exponents, and
// with as many digits as a chart can show.
func chartNumbers(list []float64) string {
	return strings.Join(lists.Map(list, func(f float64) string {
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', 6, 64), 64)
		return strconv.FormatFloat(f, 'f', -1, 64)
	}), ", ")
}

// chartMarks are what would end a quotation in the chart's grammar.
var chartMarks = lazyregexp.New("[\"`[\\]{}<>#;\\\\]")

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
