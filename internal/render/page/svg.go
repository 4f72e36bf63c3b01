package page

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
)

// maxEvidence bounds a text of a grader or a judge, in runes.
const maxEvidence = 600

// drawing builds an SVG picture. Everything that is written into it goes through at, so
// that nothing in a picture can be markup of somebody else.
type drawing struct{ strings.Builder }

// at writes numbers as coordinates and escapes text.
func at(format string, parts ...any) string {
	for i, part := range parts {
		switch part := part.(type) {
		case float64:
			parts[i] = coordinate(part)
		case string:
			parts[i] = html.EscapeString(part)
		}
	}
	return fmt.Sprintf(format, parts...)
}

// begin opens a picture of width by height units that scales with the page.
func (d *drawing) begin(class, title string, width, height float64) {
	d.WriteString(at(`<svg class="%v" viewBox="0 0 %v %v" role="img" aria-label="%v">`, class, width, height, title))
}

func (d *drawing) end() template.HTML {
	d.WriteString("</svg>")
	return template.HTML(d.String()) //nolint:gosec // built from numbers, our own names and escaped text
}

// path draws data that at made.
func (d *drawing) path(class, data string) {
	d.WriteString(at(`<path class="%v" d="%v"/>`, class, data))
}

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	d.path(class, at("M%v %vL%v %v", x1, y1, x2, y2))
}

// text writes a label; anchor is start, middle or end.
func (d *drawing) text(class, anchor string, x, y float64, text string) {
	d.WriteString(at(`<text class="%v" text-anchor="%v" x="%v" y="%v">%v</text>`, class, anchor, x, y, text))
}

// coordinate writes a number with one decimal at most; what is no number is 0.
func coordinate(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		f = 0
	}
	return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64)
}

// scale turns values into coordinates.
type scale struct{ low, high, from, to float64 }

// newScale spans the range with some room at both ends.
func newScale(low, high, from, to float64) scale {
	room := (high - low) * 0.06
	if room <= 0 {
		room = max(math.Abs(low)*0.05, 1e-9)
	}
	return scale{low - room, high + room, from, to}
}

// at is the coordinate of a value; one beyond the range is drawn at its edge.
func (s scale) at(value float64) float64 {
	return s.from + (min(max(value, s.low), s.high)-s.low)/(s.high-s.low)*(s.to-s.from)
}

func (s scale) beyond(value float64) bool { return value < s.low || value > s.high }

// ticks are round numbers within the range, about n of them, and how they are written.
func (s scale) ticks(n int) (values []float64, labels []string) {
	raw := (s.high - s.low) / float64(n)
	step := math.Pow(10, math.Ceil(math.Log10(raw)))
	for _, part := range []float64{5, 2} {
		if step/part >= raw {
			step /= part
			break
		}
	}
	for i := math.Ceil(s.low / step); i*step <= s.high && len(values) < 100; i++ {
		values, labels = append(values, i*step), append(labels, strconv.FormatFloat(i*step, 'f', -1, 64))
	}
	return values, render.Rounded(labels...)
}

// strip draws the samples of both sides of a trial, a tick each, with their
// medians: whether a difference stands out from the noise is seen at a glance.
func strip(it *Iteration) template.HTML {
	const width, height, left = 420.0, 74.0, 84.0
	all := slices.Concat(it.Before, it.After)
	if len(all) < 3 {
		return ""
	}
	low, high := slices.MinFunc(all, metric.Value.Cmp), slices.MaxFunc(all, metric.Value.Cmp)
	x := newScale(low.Float64(), high.Float64(), left, width-10)
	var d drawing
	d.begin("strip", fmt.Sprintf("samples: incumbent %d, candidate %d. %s", len(it.Before), len(it.After), it.Test),
		width, height)
	for i, samples := range [][]metric.Value{it.Before, it.After} {
		name, middle := []string{"incumbent", "candidate"}[i], 20+24*float64(i)
		d.text("axis", "start", 2, middle+4, name)
		d.line("grid", x.from, middle, x.to, middle)
		if len(samples) == 0 {
			continue
		}
		var marks strings.Builder
		for _, sample := range samples {
			marks.WriteString(at("M%v %vv12", x.at(sample.Float64()), middle-6))
		}
		d.path("sample "+name, marks.String())
		d.path("median "+name, at("M%v %vv18", x.at(statistics.Median(samples).Float64()), middle-9))
	}
	d.text("tick", "start", left, height-4, render.Figure(&low, &high))
	d.text("tick", "end", width-10, height-4, render.Figure(&high, &low))
	return d.end()
}

// The size of the trajectory in units of its picture.
const (
	chartWidth, chartHeight = 960.0, 340.0
	chartLeft, chartRight   = 74.0, chartWidth - 20
	chartTop, chartBottom   = 16.0, chartHeight - 34
)

// maxIntervals is how many intervals a chart shows: more hide the points. Of more than
// manyPoints candidates each is drawn smaller.
const (
	maxIntervals = 200
	manyPoints   = 600
)

// shapes are how candidates are drawn, by the class of their outcome.
var shapes = map[string]string{
	"kept":     "h0",
	"rejected": "h0",
	"beyond":   "l4 6h-8z",
	"error":    "m-3-3l6 6m0-6l-6 6",
	"pending":  "m0-5l5 5l-5 5l-5-5z",
}

// Trajectory draws every candidate as a point and the best as a step line, with
// the baseline, the target and the places where a new baseline began.
func (p *Program) Trajectory() template.HTML {
	var d drawing
	last := 1
	for _, it := range p.Iterations {
		last = max(last, it.Iteration)
	}
	x, y := scale{0, float64(last), chartLeft, chartRight}, p.valueScale()
	class := "chart trajectory"
	if len(p.Iterations) > manyPoints {
		class += " dense"
	}
	d.begin(
		class,
		fmt.Sprintf("%s of %s over %d iterations: from %s to %s, target %s. The table below has every number.",
			p.Metric, p.Name, len(p.Iterations), p.InitialText(), p.BestText(), p.TargetText()),
		chartWidth,
		chartHeight,
	)
	level := func(class string, at float64) { d.line(class, chartLeft, at, chartRight, at) }
	values, labels := y.ticks(5)
	for i, value := range values {
		level("grid", y.at(value))
		d.text("tick", "end", chartLeft-8, y.at(value)+4, labels[i])
	}
	values, labels = x.ticks(10)
	for i, value := range values {
		if value == math.Trunc(value) {
			d.text("tick", "middle", x.at(value), chartBottom+16, labels[i])
		}
	}
	d.text("axis", "end", chartRight, chartHeight-4, "iteration")
	d.text("axis", "start", 4, 11, p.Metric+", "+p.Better())
	for _, after := range p.Breaks {
		d.line("break", x.at(float64(after)+0.5), chartTop, x.at(float64(after)+0.5), chartBottom)
	}
	d.path("best", p.bestLine(x, y))
	d.points(p.Iterations, x, y)
	reference := func(name string, value *metric.Value, text, anchor string, left float64) {
		if value == nil {
			return
		}
		at, label := y.at(value.Float64()), name+" "+text
		if y.beyond(value.Float64()) {
			label += " (beyond the chart)"
		}
		level(name, at)
		d.text("reference "+name, anchor, left, at-6, label)
	}
	// The best begins at the baseline and ends near the target, so that their names
	// have more room at the other end.
	reference("baseline", p.Initial, p.InitialText(), "end", chartRight-4)
	reference("target", p.Target, p.TargetText(), "start", chartLeft+4)
	d.path("cursor", "")
	return d.end()
}

// known adds a value to a list, if there is one.
func known(list []float64, value *metric.Value) []float64 {
	if value == nil {
		return list
	}
	return append(list, value.Float64())
}

// valueScale spans the best values, baseline, target and most candidates: a few
// far away do not press everything else flat, they are drawn at the edge.
func (p *Program) valueScale() scale {
	sure, tried := known(known(nil, p.Initial), p.Best), []float64{}
	for _, it := range p.Iterations {
		sure, tried = known(sure, it.Best), known(tried, it.Metric)
	}
	slices.Sort(tried)
	if n := len(tried); n > 0 {
		sure = append(sure, tried[n/20], tried[n-1-n/20])
	}
	if len(sure) == 0 {
		sure = []float64{0, 1}
	}
	low, high := slices.Min(sure), slices.Max(sure)
	if p.Target != nil {
		// A target far beyond everything measured would leave the rest flat.
		t, around := p.Target.Float64(), 4*(high-low)
		if high == low || t > low-around && t < high+around {
			low, high = min(low, t), max(high, t)
		}
	}
	return newScale(low, high, chartBottom, chartTop)
}

// bestLine is the incumbent as steps. It is interrupted where a new baseline
// began: numbers before and after that are not of the same thing.
func (p *Program) bestLine(x, y scale) string {
	var line strings.Builder
	begun, breaks := false, p.Breaks
	to := func(left, top float64) {
		line.WriteString(at(map[bool]string{false: "M%v %v", true: "H%vV%v"}[begun], left, top))
		begun = true
	}
	if p.Initial != nil && len(breaks) == 0 {
		to(x.at(0), y.at(p.Initial.Float64()))
	}
	for _, it := range p.Iterations {
		if it.Best == nil {
			continue
		}
		for ; len(breaks) > 0 && breaks[0] < it.Iteration; breaks = breaks[1:] {
			if begun {
				line.WriteString(at("H%v", x.at(float64(breaks[0])+0.5)))
			}
			begun = false
		}
		to(x.at(float64(it.Iteration)), y.at(it.Best.Float64()))
	}
	if begun {
		line.WriteString(at("H%v", x.to))
	}
	return line.String()
}

// points draws the candidates, kept ones above the others, behind them the intervals of
// the latest trials.
func (d *drawing) points(list []*Iteration, x, y scale) {
	var others, kept drawing
	for i, it := range list {
		left, top, class := x.at(float64(it.Iteration)), y.from, it.Label().Class
		switch {
		case it.Metric != nil:
			if top = y.at(it.Metric.Float64()); y.beyond(it.Metric.Float64()) {
				class = "beyond"
			}
		case class != "error": // refused before it was measured: nothing broke
			class = "rejected"
		}
		if it.Interval != nil && i >= len(list)-maxIntervals {
			d.path("interval", at("M%v %vV%v", left, y.at(it.Interval[0]), y.at(it.Interval[1])))
		}
		over := &others
		if class == "kept" {
			over = &kept
		}
		over.WriteString(at(`<path class="point %v" data-n="%v" d="M%v %v`, class, it.Iteration, left, top) +
			shapes[class] + `"/>`)
	}
	d.WriteString(others.String() + kept.String())
}
