package page

import (
	"fmt"
	"html/template"
	"slices"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

// strip draws the samples of both sides of a trial, a tick each, with their
// medians: whether a difference stands out from the noise is seen at a glance.
func strip(it *Iteration) template.HTML {
	if len(it.Before)+len(it.After) < 3 {
		return ""
	}
	const width, height, left = 420.0, 74.0, 84.0
	all := slices.Concat(it.Before, it.After)
	low, high := slices.MinFunc(all, metric.Value.Cmp).Float64(), slices.MaxFunc(all, metric.Value.Cmp).Float64()
	x := newScale(low, high, left, width-10)
	var d drawing
	d.begin("strip", fmt.Sprintf("samples: incumbent %d, candidate %d. %s", len(it.Before), len(it.After), it.Test),
		width, height)
	side(&d, x, "incumbent", it.Before, 20)
	side(&d, x, "candidate", it.After, 44)
	d.text("tick", "start", left, height-4, short(low))
	d.text("tick", "end", width-10, height-4, short(high))
	return d.end()
}

func side(d *drawing, x scale, name string, samples []metric.Value, middle float64) {
	d.text("axis", "start", 2, middle+4, name)
	d.line("grid", x.from, middle, x.to, middle)
	if len(samples) == 0 {
		return
	}
	var ticks drawing
	for _, sample := range samples {
		ticks.add("M%v %vv12", x.at(sample.Float64()), middle-6)
	}
	d.path("sample "+name, &ticks)
	d.move("median "+name, "M%v %vv18", x.at(statistics.Median(samples).Float64()), middle-9)
}
