package render

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// leastLast is the width that the last column of a table keeps, however narrow
// the terminal is.
const leastLast = 30

// Fit is the table with its last column over several lines, so that it fits a
// terminal of so many characters; nothing is cut. 0 leaves it as it is.
func (t Table) Fit(width int) Table {
	last := len(t.Header) - 1
	if width <= 0 || last < 0 {
		return t
	}
	for i := range last {
		widest := 0
		for _, row := range append([][]string{t.Header}, t.Rows...) {
			widest = max(widest, utf8.RuneCountInString(cellText(row, i)))
		}
		width -= widest + 2
	}
	fitted := Table{Header: t.Header, Right: t.Right}
	for _, row := range t.Rows {
		lines := Wrap(cellText(row, last), max(width, leastLast))
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
