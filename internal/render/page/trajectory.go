package page

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
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
	last := 1
	for _, it := range p.Iterations {
		last = max(last, it.Number)
	}
	x := scale{low: 0, high: float64(last), from: chartLeft, to: chartWidth - chartRight}
	y := p.valueScale(chartHeight-chartBottom, chartTop)
	class := "chart trajectory"
	if len(p.Iterations) > manyPoints {
		class += " dense"
	}
	d.begin(class, p.describe(), chartWidth, chartHeight)
	axes(&d, x, y)
	d.text("axis", "end", chartWidth-chartRight, chartHeight-4, "iteration")
	d.text("axis", "start", 4, 11, plain.Text(p.Metric)+", "+p.Better())
	for _, at := range p.Breaks {
		position, _ := x.at(float64(at) + 0.5)
		d.line("break", position, chartTop, position, chartHeight-chartBottom)
	}
	referenceLine(&d, y, p.Initial, "baseline")
	referenceLine(&d, y, p.Target, "target")
	p.bestLine(&d, x, y)
	p.points(&d, x, y)
	// The best begins at the baseline and ends near the target, so that their names
	// have more room at the other end.
	referenceName(&d, y, p.Initial, "baseline", "end", chartWidth-chartRight-4)
	referenceName(&d, y, p.Target, "target", "start", chartLeft+4)
	return d.end()
}

// referenceLine draws a value as a horizontal line.
func referenceLine(d *drawing, y scale, value *metric.Value, name string) {
	if value == nil {
		return
	}
	position, _ := y.at(value.Float64())
	d.line(name, chartLeft, position, chartWidth-chartRight, position)
}

// referenceName writes the name and the value at its line.
func referenceName(d *drawing, y scale, value *metric.Value, name, anchor string, x float64) {
	if value == nil {
		return
	}
	position, outside := y.at(value.Float64())
	label := name + " " + short(value.Float64())
	if outside {
		label += " (beyond the chart)"
	}
	d.text("reference "+name, anchor, x, position-6, label)
}

func axes(d *drawing, x, y scale) {
	for _, value := range y.marks(5) {
		position, outside := y.at(value)
		if outside {
			continue
		}
		d.line("grid", chartLeft, position, chartWidth-chartRight, position)
		d.text("tick", "end", chartLeft-8, position+4, short(value))
	}
	for _, value := range ticks(x.low, x.high, 10) {
		if value != math.Trunc(value) {
			continue
		}
		position, _ := x.at(value)
		d.text("tick", "middle", position, chartHeight-chartBottom+16, short(value))
	}
}

// valueScale spans the best values, baseline, target and most candidates: a few
// far away do not press everything else flat, they are drawn at the edge.
func (p *Program) valueScale(from, to float64) scale {
	var sure, tried []float64
	for _, v := range []*metric.Value{p.Initial, p.Best} {
		if v != nil {
			sure = append(sure, v.Float64())
		}
	}
	for _, it := range p.Iterations {
		if it.Best != nil {
			sure = append(sure, it.Best.Float64())
		}
		if it.Metric != nil {
			tried = append(tried, it.Metric.Float64())
		}
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
	var b strings.Builder
	begun := false
	if p.Initial != nil && len(p.Breaks) == 0 {
		left, _ := x.at(0)
		top, _ := y.at(p.Initial.Float64())
		fmt.Fprintf(&b, "M%s %s", coordinate(left), coordinate(top))
		begun = true
	}
	breaks := p.Breaks
	for _, it := range p.Iterations {
		if it.Best == nil {
			continue
		}
		left, _ := x.at(float64(it.Number))
		top, _ := y.at(it.Best.Float64())
		for len(breaks) > 0 && breaks[0] < it.Number {
			if begun {
				end, _ := x.at(float64(breaks[0]) + 0.5)
				fmt.Fprintf(&b, "H%s", coordinate(end))
			}
			begun, breaks = false, breaks[1:]
		}
		switch {
		case !begun:
			fmt.Fprintf(&b, "M%s %s", coordinate(left), coordinate(top))
			begun = true
		default:
			fmt.Fprintf(&b, "H%sV%s", coordinate(left), coordinate(top))
		}
	}
	if begun {
		fmt.Fprintf(&b, "H%s", coordinate(x.to))
	}
	d.path("best", b.String())
}

// points draws the candidates, all of one kind as one path, and notes where.
func (p *Program) points(d *drawing, x, y scale) {
	kinds := map[string]*strings.Builder{}
	for _, class := range []string{"kept", "rejected", "error", "pending", "beyond"} {
		kinds[class] = &strings.Builder{}
	}
	var intervals strings.Builder
	drawn := 0
	p.legend = map[string]bool{}
	for i := len(p.Iterations) - 1; i >= 0; i-- {
		it := p.Iterations[i]
		left, _ := x.at(float64(it.Number))
		if it.Metric == nil {
			it.Point = []float64{round1(left), chartHeight - chartBottom}
			if it.Class() == "error" {
				fmt.Fprintf(kinds["error"], "M%s %sl6 6m0-6l-6 6", coordinate(left-3), coordinate(chartHeight-chartBottom-3))
			} else { // refused before it was measured: nothing broke
				fmt.Fprintf(kinds["rejected"], "M%s %sh0", coordinate(left), coordinate(chartHeight-chartBottom))
			}
			continue
		}
		top, outside := y.at(it.Metric.Float64())
		it.Point = []float64{round1(left), round1(top)}
		if it.Interval != nil && drawn < maxIntervals {
			low, _ := y.at(it.Interval[0])
			high, _ := y.at(it.Interval[1])
			fmt.Fprintf(&intervals, "M%s %sV%s", coordinate(left), coordinate(low), coordinate(high))
			drawn++
		}
		class := it.Class()
		switch {
		case outside:
			fmt.Fprintf(kinds["beyond"], "M%s %sl4 6h-8z", coordinate(left), coordinate(top))
		case class == "error":
			fmt.Fprintf(kinds[class], "M%s %sl6 6m0-6l-6 6", coordinate(left-3), coordinate(top-3))
		case class == "pending":
			fmt.Fprintf(kinds[class], "M%s %sl5 5l-5 5l-5-5z", coordinate(left), coordinate(top-5))
		default:
			fmt.Fprintf(kinds[class], "M%s %sh0", coordinate(left), coordinate(top))
		}
	}
	for class, path := range kinds {
		p.legend[class] = path.Len() > 0
	}
	p.legend["interval"] = drawn > 0
	d.path("interval", intervals.String())
	for _, class := range []string{"rejected", "beyond", "error", "pending", "kept"} {
		d.path("points "+class, kinds[class].String())
	}
}

func round1(f float64) float64 { return math.Round(f*10) / 10 }

// describe says in words what the chart shows.
func (p *Program) describe() string {
	return fmt.Sprintf("%s of %s over %d iterations: from %s to %s, target %s. The table below has every number.",
		plain.Text(p.Metric), p.Name, len(p.Iterations), p.InitialText(), p.BestText(), p.TargetText())
}

// sparkline is the best value as a small line.
func sparkline(p *Program) template.HTML {
	const width, height = 120.0, 28.0
	var values []float64
	if p.Initial != nil {
		values = append(values, p.Initial.Float64())
	}
	for _, it := range p.Iterations {
		if it.Best != nil {
			values = append(values, it.Best.Float64())
		}
	}
	var d drawing
	d.begin("spark", "the best value so far: from "+p.InitialText()+" to "+p.BestText(), width, height)
	if len(values) > 1 {
		y := newScale(slices.Min(values), slices.Max(values), height-3, 3)
		step := (width - 6) / float64(len(values)-1)
		every := max(len(values)/120, 1)
		var b strings.Builder
		for i, value := range values {
			if i%every != 0 && i != len(values)-1 {
				continue
			}
			top, _ := y.at(value)
			if b.Len() == 0 {
				fmt.Fprintf(&b, "M3 %s", coordinate(top))
				continue
			}
			fmt.Fprintf(&b, "H%sV%s", coordinate(3+step*float64(i)), coordinate(top))
		}
		d.path("best", b.String())
		top, _ := y.at(values[len(values)-1])
		d.path("points kept", "M"+coordinate(width-3)+" "+coordinate(top)+"h0")
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
	d.begin("chart cost", fmt.Sprintf("cost added up: $%.2f after %d iterations", total, len(p.Iterations)), chartWidth, height)
	x := scale{low: 0, high: float64(max(p.Iterations[len(p.Iterations)-1].Number, 1)), from: chartLeft, to: chartWidth - chartRight}
	y := scale{low: 0, high: total * 1.05, from: height - 24, to: 14}
	for _, value := range y.marks(3) {
		position, _ := y.at(value)
		d.line("grid", chartLeft, position, chartWidth-chartRight, position)
		d.text("tick", "end", chartLeft-8, position+4, "$"+short(value))
	}
	var b strings.Builder
	sum := 0.0
	fmt.Fprintf(&b, "M%s %s", coordinate(chartLeft), coordinate(y.from))
	for _, it := range p.Iterations {
		sum += it.Cost.USD
		left, _ := x.at(float64(it.Number))
		top, _ := y.at(sum)
		fmt.Fprintf(&b, "H%sV%s", coordinate(left), coordinate(top))
	}
	d.path("best", b.String())
	d.text("axis", "start", 4, 11, "cost")
	return d.end()
}
