package state

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// null is how an empty cell is written.
const null = "—"

const maxCount = 1_000_000_000

// maxReason bounds a reason in the table, in runes.
const maxReason = 500

// SetMachine writes the table. Cells whose value stays keep their bytes, other
// values are replaced, and rows that are missing are added in their place when
// they have something to say; Metric Direction always has.
func (d *Doc) SetMachine(m Machine) {
	was := d.Machine()
	for f := range fieldCount {
		found, problem := findTable(d.data)
		if problem != nil {
			return
		}
		text := f.cell(&m)
		switch c := found.cells[f]; {
		case !c.there && text != null:
			d.addRow(&found, f, text)
		case c.there && (text != f.cell(&was) || f == metricDirection && !was.DirectionGiven):
			d.splice(c.start, c.end, pad(d.data, c, text))
		}
	}
}

// pad keeps the spaces around a value that replaces an empty cell.
func pad(data []byte, c cell, text string) string {
	if c.start > c.row.start && data[c.start-1] == '|' {
		text = " " + text
	}
	if c.end == c.row.end || data[c.end] == '|' {
		text += " "
	}
	return text
}

// addRow adds a row after the nearest row that comes before it in the order of
// the rows, else before the nearest that comes after it.
func (d *Doc) addRow(found *table, f field, text string) {
	row := fmt.Sprintf("| %s | %s |", f.name(), text)
	for before := f - 1; before >= 0; before-- {
		if c := found.cells[before]; c.there {
			if c.row.next == c.row.end {
				d.splice(c.row.end, c.row.end, "\n"+row)
			} else {
				d.splice(c.row.next, c.row.next, row+"\n")
			}
			return
		}
	}
	for _, c := range found.cells[f:] {
		if c.there {
			d.splice(c.row.start, c.row.start, row+"\n")
			return
		}
	}
}

// cell is the text of a row's value.
func (f field) cell(m *Machine) string {
	switch value := f.of(m).(type) {
	case **time.Time:
		if at := *value; at != nil && at.UTC().Year() >= 1 && at.UTC().Year() <= 9999 {
			return at.UTC().Format(time.RFC3339)
		}
	case *int:
		return strconv.Itoa(min(max(*value, 0), maxCount))
	case *number:
		if *value > 0 && *value <= maxCount {
			return "#" + strconv.Itoa(int(*value))
		}
	case **metric.Value:
		return metric.Text(*value, null)
	case *metric.Direction:
		return value.String() // it always says something
	case *bool:
		return strconv.FormatBool(*value)
	case *string:
		if name := strings.Trim(plain.Inline(*value, 200), "`*_ "); name != "" {
			return "`" + escapeCell(name) + "`"
		}
	case *prose:
		if text := plain.Inline(string(*value), maxReason); text != "" {
			return escapeCell(text)
		}
	case *[]string:
		words := []string{}
		for _, word := range lastStatuses(*value) {
			words = append(words, strings.Map(func(r rune) rune {
				if r <= ' ' || strings.ContainsRune(",|\\`*_", r) {
					return '-'
				}
				return r
			}, plain.Inline(word, 40)))
		}
		return cmp.Or(strings.Join(words, ", "), null)
	}
	return null
}
