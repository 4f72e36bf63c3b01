package page

import (
	"fmt"
	"html/template"
	"slices"

	"github.com/org/autoloop/internal/render"
)

// strip draws the samples of both sides of a trial, a tick each, with their
// medians: whether a difference stands out from the noise is seen at a glance.
func strip(it *Iteration) template.HTML {
	if len(it.Before)+len(it.After) < 3 {
		return ""
	}
	const width, height, left = 420.0, 74.0, 84.0
	all := slices.Concat(it.Before, it.After)
	x := newScale(slices.Min(all), slices.Max(all), left, width-10)
	var d drawing
	d.begin("strip", fmt.Sprintf("samples: incumbent %d, candidate %d. %s", len(it.Before), len(it.After), it.Test),
		width, height)
	side(&d, x, "incumbent", it.Before, 20)
	side(&d, x, "candidate", it.After, 44)
	d.text("tick", "start", left, height-4, short(slices.Min(all)))
	d.text("tick", "end", width-10, height-4, short(slices.Max(all)))
	return d.end()
}

func side(d *drawing, x scale, name string, samples []float64, middle float64) {
	d.text("axis", "start", 2, middle+4, name)
	d.line("grid", x.from, middle, x.to, middle)
	if len(samples) == 0 {
		return
	}
	var ticks drawing
	for _, sample := range samples {
		ticks.add("M%v %vv12", x.at(sample), middle-6)
	}
	d.path("sample "+name, &ticks)
	d.move("median "+name, "M%v %vv18", x.at(render.Median(samples)), middle-9)
}
