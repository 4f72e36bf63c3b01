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
