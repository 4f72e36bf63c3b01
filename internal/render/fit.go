package render

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// leastLast is the width that the last column of a table keeps; where a terminal
	// has less, its text goes below its row.
	leastLast = 30
	// indent stands before what goes below a row.
	indent = "    "
	// unbroken stands for a space at which no line is broken.
	unbroken = "\x00"
)

// Fit is the table for a terminal of so many characters; nothing is cut. The last
// column goes over several lines, in a narrow terminal below its row, and where the
// other columns do not fit either, every row is a list of its cells. 0 leaves the
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
	if left >= min(widths[last], leastLast) {
		return t.wrapped(left)
	}
	columns := last
	if left+2 < 0 {
		columns = 1
	}
	fitted := Table{Header: t.Header[:columns], Align: t.Align, Rows: t.Rows}
	for _, row := range t.Rows {
		var cells []string
		for i := columns; i < last; i++ {
			if text := cellText(row, i); text != "" && text != "—" {
				cells = append(cells, strings.ReplaceAll(t.Header[i]+" "+text, " ", unbroken))
			}
		}
		var below []string
		for _, text := range []string{strings.Join(cells, ", "), cellText(row, last)} {
			for _, line := range Wrap(text, width-len(indent)) {
				if line != "" {
					below = append(below, strings.ReplaceAll(line, unbroken, " "))
				}
			}
		}
		fitted.below = append(fitted.below, below)
	}
	return fitted
}

// wrapped has the last column over lines of so many characters.
func (t Table) wrapped(width int) Table {
	last := len(t.Header) - 1
	fitted := Table{Header: t.Header, Align: t.Align}
	for _, row := range t.Rows {
		lines := Wrap(cellText(row, last), width)
		first := slices.Clone(row)
		if len(first) > last {
			first[last] = lines[0]
		}
		fitted.Rows = append(fitted.Rows, first)
		for _, line := range lines[1:] {
			more := make([]string, len(t.Header))
			more[last] = line
			fitted.Rows = append(fitted.Rows, more)
		}
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
