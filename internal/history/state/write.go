package state

import (
	"fmt"
	"strconv"
	"strings"
	"time"

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
	if len(m.RecentStatuses) > MaxStatuses {
		m.RecentStatuses = m.RecentStatuses[len(m.RecentStatuses)-MaxStatuses:]
	}
	for f := range fieldCount {
		found, problem := findTable(d.data)
		if problem != nil {
			return
		}
		text := rows[f].cell(&m)
		switch c := found.cells[f]; {
		case !c.there && text != null:
			d.addRow(&found, f, text)
		case c.there && !rows[f].same(&d.machine, &m):
			d.splice(int(c.start), int(c.end), pad(d.data, c, text))
		}
	}
	if err := d.read(); err != nil {
		d.machine = m
	}
}

// pad keeps the spaces around a value that replaces an empty cell.
func pad(data []byte, c cell, text string) string {
	if c.start > c.row && data[c.start-1] == '|' {
		text = " " + text
	}
	if int(c.end) == c.line(data).end || data[c.end] == '|' {
		text += " "
	}
	return text
}

// addRow adds a row after the nearest row that comes before it in the order of
// the rows, else before the nearest that comes after it.
func (d *Doc) addRow(found *table, f field, text string) {
	newline := d.newline()
	row := fmt.Sprintf("| %s | %s |", f.name(), text)
	for before := f - 1; before >= 0; before-- {
		if c := found.cells[before]; c.there {
			if at := c.line(d.data); at.next == at.end {
				d.splice(at.end, at.end, newline+row)
			} else {
				d.splice(at.next, at.next, row+newline)
			}
			return
		}
	}
	for after := f + 1; after < fieldCount; after++ {
		if c := found.cells[after]; c.there {
			d.splice(int(c.row), int(c.row), row+newline)
			return
		}
	}
}

func timeCell(at *time.Time) string {
	if at == nil || at.UTC().Year() < 1 || at.UTC().Year() > 9999 {
		return null
	}
	return at.UTC().Format(time.RFC3339)
}

func countCell(n int) string { return strconv.Itoa(min(max(n, 0), maxCount)) }

func branchCell(name string) string {
	name = strings.Trim(plain.Inline(name, 200), "`*_ ")
	if name == "" {
		return null
	}
	return "`" + escapeCell(name) + "`"
}

func numberCell(n int) string {
	if n <= 0 || n > maxCount {
		return null
	}
	return "#" + strconv.Itoa(n)
}

func proseCell(text string) string {
	if text = plain.Inline(text, maxReason); text == "" {
		return null
	}
	return escapeCell(text)
}

func statusesCell(list []string) string {
	words := make([]string, 0, len(list))
	for _, word := range list {
		word = strings.Map(func(r rune) rune {
			if r == ',' || r == '|' || r == '\\' || r == '`' || r == '*' || r == '_' || r <= ' ' {
				return '-'
			}
			return r
		}, plain.Inline(word, 40))
		words = append(words, word)
	}
	if len(words) == 0 {
		return null
	}
	return strings.Join(words, ", ")
}
