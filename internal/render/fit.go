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
	left, widest := width, 0
	for i, column := range t.widths() {
		if i == last {
			widest = column
		} else {
			left -= column + 2
		}
	}
	switch {
	case left >= min(widest, leastLast):
		return t.wrapped(left)
	case left+2 >= 0:
		return t.withBelow(t.Header[:last],
			func(row []string) []string { return Wrap(cellText(row, last), width-len(indent)) })
	default:
		return t.withBelow(t.Header[:1], func(row []string) []string {
			var cells []string
			for i := 1; i < last; i++ {
				if text := cellText(row, i); text != "" && text != "—" {
					cells = append(cells, strings.ReplaceAll(t.Header[i]+" "+text, " ", unbroken))
				}
			}
			lines := Wrap(strings.Join(cells, ", "), width-len(indent))
			for i := range lines {
				lines[i] = strings.ReplaceAll(lines[i], unbroken, " ")
			}
			return append(lines, Wrap(cellText(row, last), width-len(indent))...)
		})
	}
}

// wrapped has the last column over lines of so many characters.
func (t Table) wrapped(width int) Table {
	last := len(t.Header) - 1
	fitted := Table{Header: t.Header, Right: t.Right}
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

// withBelow has only the columns of the header, and below every row what text
// returns for it.
func (t Table) withBelow(header []string, text func(row []string) []string) Table {
	fitted := Table{Header: header, Right: t.Right, Rows: t.Rows, below: make([][]string, len(t.Rows))}
	for i, row := range t.Rows {
		fitted.below[i] = slices.DeleteFunc(text(row), func(line string) bool { return line == "" })
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
