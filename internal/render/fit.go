package render

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// leastLast is the width that the last column of a table keeps; where a terminal
// has less, its text goes below its row.
const leastLast = 30

// Fit is the table for a terminal of so many characters; nothing is cut. The last
// column goes over several lines, in a narrow terminal below its row. 0 leaves the
// table as it is.
func (t Table) Fit(width int) Table {
	last := len(t.Header) - 1
	if width <= 0 || last < 1 {
		return t
	}
	widths, left := t.widths(), width
	for _, column := range widths[:last] {
		left -= column + 2
	}
	fitted := Table{Header: t.Header, Align: t.Align, indent: width - left}
	below := left < min(widths[last], leastLast)
	if below {
		fitted.Header, fitted.indent = t.Header[:last], 4
	}
	for _, row := range t.Rows {
		lines := Wrap(cellText(row, last), width-fitted.indent)
		row = slices.Clone(row[:min(len(row), last)])
		if !below && len(row) == last {
			row, lines = append(row, lines[0]), lines[1:]
		}
		fitted.Rows, fitted.below = append(fitted.Rows, row), append(fitted.below, lines)
	}
	return fitted
}

// Wrap breaks a text into lines of at most so many characters between words; a
// longer word has a line of its own.
func Wrap(text string, width int) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(text) {
		last := len(lines) - 1
		switch {
		case lines[last] == "":
			lines[last] = word
		case utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= width:
			lines[last] += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}
