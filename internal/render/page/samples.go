package page

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
)

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
