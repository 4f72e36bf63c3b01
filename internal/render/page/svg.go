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

// drawing builds an SVG picture. Numbers are written by coordinate and text by
// text, so that nothing in a picture can be markup of somebody else.
type drawing struct{ b strings.Builder }

// begin opens a picture of width by height units that scales with the page.
func (d *drawing) begin(class, title string, width, height float64) {
	fmt.Fprintf(&d.b, `<svg class="%s" viewBox="0 0 %s %s" role="img" aria-label="%s">`, class, coordinate(width), coordinate(height), html.EscapeString(title))
}

func (d *drawing) end() template.HTML {
	d.b.WriteString("</svg>")
	return template.HTML(d.b.String()) //nolint:gosec // built from numbers, our own names and escaped text
}

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&d.b, `<path class="%s" d="M%s %sL%s %s"/>`, class, coordinate(x1), coordinate(y1), coordinate(x2), coordinate(y2))
}

func (d *drawing) path(class, data string) {
	if data != "" {
		fmt.Fprintf(&d.b, `<path class="%s" d="%s"/>`, class, data)
	}
}

// text writes a label; anchor is start, middle or end.
func (d *drawing) text(class, anchor string, x, y float64, text string) {
	fmt.Fprintf(&d.b, `<text class="%s" text-anchor="%s" x="%s" y="%s">%s</text>`, class, anchor, coordinate(x), coordinate(y), html.EscapeString(plain.Text(text)))
}

// coordinate writes a number with one decimal at most; what is no number is 0.
func coordinate(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		f = 0
	}
	return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64)
}

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

// at is the coordinate of a value; outside says that it lies beyond the range
// and is drawn at its edge.
func (s scale) at(value float64) (position float64, outside bool) {
	if s.log {
		value = math.Log10(math.Max(value, math.SmallestNonzeroFloat64))
	}
	clamped := math.Min(math.Max(value, s.low), s.high)
	return s.from + (clamped-s.low)/(s.high-s.low)*(s.to-s.from), clamped != value
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
