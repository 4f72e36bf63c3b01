package page

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/plain"
)

// drawing builds an SVG picture, or the data of a path in one. Everything that is
// written into it goes through add, so that nothing in a picture can be markup of
// somebody else.
type drawing struct{ b strings.Builder }

// add writes numbers as coordinates and escapes text.
func (d *drawing) add(format string, parts ...any) {
	for i, part := range parts {
		switch part := part.(type) {
		case float64:
			parts[i] = coordinate(part)
		case string:
			parts[i] = html.EscapeString(part)
		}
	}
	fmt.Fprintf(&d.b, format, parts...)
}

// begin opens a picture of width by height units that scales with the page.
func (d *drawing) begin(class, title string, width, height float64) {
	d.add(`<svg class="%v" viewBox="0 0 %v %v" role="img" aria-label="%v">`, class, width, height, title)
}

func (d *drawing) end() template.HTML {
	d.add("</svg>")
	return template.HTML(d.b.String()) //nolint:gosec // built from numbers, our own names and escaped text
}

// move draws a path that is told at once.
func (d *drawing) move(class, format string, parts ...any) {
	var data drawing
	data.add(format, parts...)
	d.path(class, &data)
}

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	d.move(class, "M%v %vL%v %v", x1, y1, x2, y2)
}

// path draws what was added to another drawing.
func (d *drawing) path(class string, data *drawing) {
	if data.b.Len() > 0 {
		d.add(`<path class="%v" d="%v"/>`, class, data.b.String())
	}
}

// text writes a label; anchor is start, middle or end.
func (d *drawing) text(class, anchor string, x, y float64, text string) {
	d.add(`<text class="%v" text-anchor="%v" x="%v" y="%v">%v</text>`, class, anchor, x, y, plain.Text(text))
}

// steps is a line of values each of which holds until the next.
type steps struct {
	drawing
	begun bool
}

func (s *steps) to(x, y float64) {
	if s.begun {
		s.add("H%vV%v", x, y)
	} else {
		s.add("M%v %v", x, y)
	}
	s.begun = true
}

// until draws the last value as far as x, where the line ends.
func (s *steps) until(x float64) {
	if s.begun {
		s.add("H%v", x)
	}
	s.begun = false
}

// coordinate writes a number with one decimal at most; what is no number is 0.
func coordinate(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		f = 0
	}
	return strconv.FormatFloat(round1(f), 'f', -1, 64)
}

func round1(f float64) float64 { return math.Round(f*10) / 10 }

// scale turns values into coordinates; with log it does so by their logarithms.
type scale struct {
	low, high, from, to float64
	log                 bool
}

// newScale spans the range with some room at both ends.
func newScale(low, high, from, to float64) scale {
	s := scale{low: low, high: high, from: from, to: to}
	if low > 0 && high/low > 200 {
		s.log, s.low, s.high = true, math.Log10(low), math.Log10(high)
	}
	if s.high <= s.low {
		room := math.Max(math.Abs(s.low)*0.05, 1e-9)
		s.low, s.high = s.low-room, s.high+room
	}
	room := (s.high - s.low) * 0.06
	s.low, s.high = s.low-room, s.high+room
	return s
}

// at is the coordinate of a value; one beyond the range is drawn at its edge.
func (s scale) at(value float64) float64 {
	clamped := min(max(s.scaled(value), s.low), s.high)
	return s.from + (clamped-s.low)/(s.high-s.low)*(s.to-s.from)
}

func (s scale) beyond(value float64) bool {
	value = s.scaled(value)
	return value < s.low || value > s.high
}

func (s scale) scaled(value float64) float64 {
	if s.log {
		return math.Log10(max(value, math.SmallestNonzeroFloat64))
	}
	return value
}

// marks are round values within the range.
func (s scale) marks(n int) []float64 {
	if !s.log {
		return ticks(s.low, s.high, n)
	}
	var list []float64
	for exponent := math.Ceil(s.low); exponent <= s.high; exponent++ {
		list = append(list, math.Pow(10, exponent))
	}
	if len(list) < 2 {
		list = ticks(math.Pow(10, s.low), math.Pow(10, s.high), n)
	}
	return list
}
