// Package render makes every text that people see: tables and reports on a
// terminal, and on GitHub the comment with a program's status, one comment an
// iteration and the body of the pull request. It does no I/O: everything comes
// from the recorded history, and what agents and evaluations said is made
// harmless on the way.
package render

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/autoloop/internal/plain"
)

// Table is rows of cells under a header; it has no cell that spans.
type Table struct {
	Header []string
	Rows   [][]string
	// Align has a letter for each column, r for one that is aligned to the right; those
	// that it does not reach are to the left.
	Align string
	// below are lines below each row, indented so far.
	below  [][]string
	indent int
}

// String renders the table with two spaces between columns, and a newline
// after every row. Cells are made one line each.
func (t Table) String() string {
	widths := t.widths()
	var out strings.Builder
	for number, row := range append([][]string{t.Header}, t.Rows...) {
		var line strings.Builder
		for i, width := range widths {
			text := cellText(row, i)
			if pad := strings.Repeat(" ", width-utf8.RuneCountInString(text)); t.right(i) {
				text = pad + text
			} else {
				text += pad
			}
			line.WriteString(text + "  ")
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		if number == 0 || number > len(t.below) {
			continue
		}
		for _, text := range t.below[number-1] {
			if text != "" {
				out.WriteString(strings.Repeat(" ", t.indent) + text + "\n")
			}
		}
	}
	return out.String()
}

func (t Table) right(column int) bool { return column < len(t.Align) && t.Align[column] == 'r' }

// widths are those of the columns.
func (t Table) widths() []int {
	widths := make([]int, len(t.Header))
	for _, row := range append([][]string{t.Header}, t.Rows...) {
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(cellText(row, i)))
		}
	}
	return widths
}

func cellText(row []string, i int) string {
	if i >= len(row) {
		return ""
	}
	return plain.Spaced(row[i])
}

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
