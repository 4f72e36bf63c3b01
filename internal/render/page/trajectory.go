package page

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
)

// The size of the trajectory in units of its picture.
const (
	chartWidth, chartHeight = 960.0, 340.0
	chartLeft, chartRight   = 74.0, 20.0
	chartTop, chartBottom   = 16.0, 34.0
)

// maxIntervals is how many intervals a chart shows: more hide the points.
const maxIntervals = 200

// manyPoints is how many candidates are drawn large enough to be told apart.
const manyPoints = 600

// trajectory draws every candidate as a point and the best as a step line, with
// the baseline, the target and the places where a new baseline began.
func trajectory(p *Program) template.HTML {
	var d drawing
	x, y := p.across(), p.valueScale(chartHeight-chartBottom, chartTop)
	class := "chart trajectory"
	if len(p.Iterations) > manyPoints {
		class += " dense"
	}
	d.begin(class, p.describe(), chartWidth, chartHeight)
	d.grid(y, 5)
	for _, value := range ticks(x.low, x.high, 10) {
		if value == math.Trunc(value) {
			d.text("tick", "middle", x.at(value), chartHeight-chartBottom+16, short(value))
		}
	}
	d.text("axis", "end", chartWidth-chartRight, chartHeight-4, "iteration")
	d.text("axis", "start", 4, 11, p.Metric+", "+p.Better())
	for _, at := range p.Breaks {
		position := x.at(float64(at) + 0.5)
		d.line("break", position, chartTop, position, chartHeight-chartBottom)
	}
	// The best begins at the baseline and ends near the target, so that their names
	// have more room at the other end.
	references := []struct {
		value              *metric.Value
		name, text, anchor string
		x                  float64
	}{
		{p.Initial, "baseline", p.InitialText(), "end", chartWidth - chartRight - 4},
		{p.Target, "target", p.TargetText(), "start", chartLeft + 4},
	}
	for _, r := range references {
		if r.value != nil {
			d.level(r.name, y.at(r.value.Float64()))
		}
	}
	p.bestLine(&d, x, y)
	p.points(&d, x, y)
	for _, r := range references {
		if r.value == nil {
			continue
		}
		label := r.name + " " + r.text
		if y.beyond(r.value.Float64()) {
			label += " (beyond the chart)"
		}
		d.text("reference "+r.name, r.anchor, r.x, y.at(r.value.Float64())-6, label)
	}
	return d.end()
}

// across is the scale of the iterations.
func (p *Program) across() scale {
	last := 1
	for _, it := range p.Iterations {
		last = max(last, it.Iteration)
	}
	return scale{high: float64(last), from: chartLeft, to: chartWidth - chartRight}
}

// level draws a line from one side of a chart to the other.
func (d *drawing) level(class string, y float64) {
	d.line(class, chartLeft, y, chartWidth-chartRight, y)
}

// grid draws about n round values.
func (d *drawing) grid(y scale, n int) {
	for _, value := range y.marks(n) {
		if !y.beyond(value) {
			d.level("grid", y.at(value))
			d.text("tick", "end", chartLeft-8, y.at(value)+4, short(value))
		}
	}
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
func (p *Program) valueScale(from, to float64) scale {
	sure, tried := known(known(nil, p.Initial), p.Best), []float64{}
	for _, it := range p.Iterations {
		sure, tried = known(sure, it.Best), known(tried, it.Metric)
	}
	slices.Sort(tried)
	if n := len(tried); n > 0 {
		sure = append(sure, tried[n/20], tried[n-1-n/20])
	}
	if len(sure) == 0 {
		return newScale(0, 1, from, to)
	}
	low, high := slices.Min(sure), slices.Max(sure)
	if p.Target != nil {
		// A target far beyond everything measured would leave the rest flat.
		if t := p.Target.Float64(); high == low || t > low-4*(high-low) && t < high+4*(high-low) {
			low, high = min(low, t), max(high, t)
		}
	}
	return newScale(low, high, from, to)
}

// bestLine draws the incumbent as steps. It is interrupted where a new baseline
// began: numbers before and after that are not of the same thing.
func (p *Program) bestLine(d *drawing, x, y scale) {
	var line steps
	if p.Initial != nil && len(p.Breaks) == 0 {
		line.to(x.at(0), y.at(p.Initial.Float64()))
	}
	breaks := p.Breaks
	for _, it := range p.Iterations {
		if it.Best == nil {
			continue
		}
		for ; len(breaks) > 0 && breaks[0] < it.Iteration; breaks = breaks[1:] {
			line.until(x.at(float64(breaks[0]) + 0.5))
		}
		line.to(x.at(float64(it.Iteration)), y.at(it.Best.Float64()))
	}
	line.until(x.to)
	d.path("best", &line.drawing)
}

// points draws the candidates, all of one kind as one path, and notes where.
func (p *Program) points(d *drawing, x, y scale) {
	kinds := []struct{ class, shape string }{
		{"rejected", "h0"},
		{"beyond", "l4 6h-8z"},
		{"error", "m-3-3l6 6m0-6l-6 6"},
		{"pending", "m0-5l5 5l-5 5l-5-5z"},
		{"kept", "h0"},
	}
	drawn, intervals := make([]drawing, len(kinds)), drawing{}
	shown := 0
	for _, it := range slices.Backward(p.Iterations) {
		left, top, class := x.at(float64(it.Iteration)), y.from, it.Class()
		switch {
		case it.Metric != nil:
			if top = y.at(it.Metric.Float64()); y.beyond(it.Metric.Float64()) {
				class = "beyond"
			}
		case class != "error": // refused before it was measured: nothing broke
			class = "rejected"
		}
		it.Point = []float64{round1(left), round1(top)}
		if it.Interval != nil && shown < maxIntervals {
			intervals.add("M%v %vV%v", left, y.at(it.Interval[0]), y.at(it.Interval[1]))
			shown++
		}
		for i, kind := range kinds {
			if kind.class == class {
				drawn[i].add("M%v %v"+kind.shape, left, top)
			}
		}
	}
	p.legend = map[string]bool{"interval": shown > 0}
	d.path("interval", &intervals)
	for i, kind := range kinds {
		d.path("points "+kind.class, &drawn[i])
		p.legend[kind.class] = drawn[i].b.Len() > 0
	}
}

// describe says in words what the chart shows.
func (p *Program) describe() string {
	return fmt.Sprintf("%s of %s over %d iterations: from %s to %s, target %s. The table below has every number.",
		plain.Text(p.Metric), p.Name, len(p.Iterations), p.InitialText(), p.BestText(), p.TargetText())
}

// sparkline is the best value as a small line.
func sparkline(p *Program) template.HTML {
	const width, height = 120.0, 28.0
	values := known(nil, p.Initial)
	for _, it := range p.Iterations {
		values = known(values, it.Best)
	}
	var d drawing
	d.begin("spark", "the best value so far: from "+p.InitialText()+" to "+p.BestText(), width, height)
	if last := len(values) - 1; last > 0 {
		y := newScale(slices.Min(values), slices.Max(values), height-3, 3)
		every := max(len(values)/120, 1)
		var line steps
		for i, value := range values {
			if i%every == 0 || i == last {
				line.to(3+(width-6)/float64(last)*float64(i), y.at(value))
			}
		}
		d.path("best", &line.drawing)
		d.move("points kept", "M%v %vh0", width-3, y.at(values[last]))
	}
	return d.end()
}

// costChart is what was spent up to each iteration.
func costChart(p *Program) template.HTML {
	const height = 160.0
	total := 0.0
	for _, it := range p.Iterations {
		total += it.Cost.USD
	}
	if total <= 0 {
		return ""
	}
	var d drawing
	title := fmt.Sprintf("cost added up: %s after %d iterations", render.USD(total), len(p.Iterations))
	d.begin("chart cost", title, chartWidth, height)
	x, y := p.across(), scale{low: 0, high: total * 1.05, from: height - 24, to: 14}
	d.grid(y, 3)
	var line steps
	line.to(chartLeft, y.from)
	sum := 0.0
	for _, it := range p.Iterations {
		sum += it.Cost.USD
		line.to(x.at(float64(it.Iteration)), y.at(sum))
	}
	d.path("best", &line.drawing)
	d.text("axis", "start", 4, 11, "cost in USD")
	return d.end()
}
