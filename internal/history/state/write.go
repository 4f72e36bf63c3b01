package state

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// null is how an empty cell is written.
const null = "—"

// maxCount bounds counts and numbers of issues and pull requests.
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
		text := m.cell(f)
		switch c := found.cells[f]; {
		case !c.there && text != null:
			d.addRow(&found, f, text)
		case c.there && !d.machine.same(m, f):
			d.splice(c.start, c.end, pad(d.data, c, text))
		}
	}
	if err := d.read(); err != nil {
		d.machine = m
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
	newline := d.newline()
	row := fmt.Sprintf("| %s | %s |", f.name(), text)
	for before := f - 1; before >= 0; before-- {
		if c := found.cells[before]; c.there {
			if c.row.next == c.row.end {
				d.splice(c.row.end, c.row.end, newline+row)
			} else {
				d.splice(c.row.next, c.row.next, row+newline)
			}
			return
		}
	}
	for after := f + 1; after < fieldCount; after++ {
		if c := found.cells[after]; c.there {
			d.splice(c.row.start, c.row.start, row+newline)
			return
		}
	}
}

// cell renders the value of a row.
func (m Machine) cell(f field) string {
	switch f {
	case lastRun:
		return timeCell(m.LastRun)
	case iterationCount:
		return countCell(m.IterationCount)
	case initialMetric:
		return metricCell(m.InitialMetric)
	case bestMetric:
		return metricCell(m.BestMetric)
	case targetMetric:
		return metricCell(m.TargetMetric)
	case metricDirection:
		return m.Direction.String()
	case branch:
		return branchCell(m.Branch)
	case pullRequest:
		return numberCell(m.PR)
	case issue:
		return numberCell(m.Issue)
	case paused:
		return strconv.FormatBool(m.Paused)
	case pauseReason:
		return proseCell(m.PauseReason)
	case completed:
		return strconv.FormatBool(m.Completed)
	case completedReason:
		return proseCell(m.CompletedReason)
	case consecutiveErrors:
		return countCell(m.ConsecutiveErrors)
	case notBefore:
		return timeCell(m.NotBefore)
	default:
		return statusesCell(m.RecentStatuses)
	}
}

func sameTime(a, b *time.Time) bool {
	return equal(a, b, func(a, b time.Time) bool { return a.Equal(b) })
}

func timeCell(at *time.Time) string {
	if at == nil || at.UTC().Year() < 1 || at.UTC().Year() > 9999 {
		return null
	}
	return at.UTC().Format(time.RFC3339)
}

func countCell(n int) string { return strconv.Itoa(min(max(n, 0), maxCount)) }

func metricCell(value *metric.Value) string {
	if value == nil {
		return null
	}
	return value.String()
}

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

// same says whether a row has the same value in both.
func (m Machine) same(o Machine, f field) bool {
	switch f {
	case lastRun:
		return sameTime(m.LastRun, o.LastRun)
	case notBefore:
		return sameTime(m.NotBefore, o.NotBefore)
	case iterationCount:
		return m.IterationCount == o.IterationCount
	case initialMetric:
		return sameMetric(m.InitialMetric, o.InitialMetric)
	case bestMetric:
		return sameMetric(m.BestMetric, o.BestMetric)
	case targetMetric:
		return sameMetric(m.TargetMetric, o.TargetMetric)
	case metricDirection:
		return m.DirectionGiven && m.Direction.String() == o.Direction.String()
	case branch:
		return m.Branch == o.Branch
	case pullRequest:
		return m.PR == o.PR
	case issue:
		return m.Issue == o.Issue
	case paused:
		return m.Paused == o.Paused
	case pauseReason:
		return m.PauseReason == o.PauseReason
	case completed:
		return m.Completed == o.Completed
	case completedReason:
		return m.CompletedReason == o.CompletedReason
	case consecutiveErrors:
		return m.ConsecutiveErrors == o.ConsecutiveErrors
	default:
		return slices.Equal(m.RecentStatuses, o.RecentStatuses)
	}
}

func sameMetric(a, b *metric.Value) bool {
	return equal(a, b, func(a, b metric.Value) bool { return a.Cmp(b) == 0 })
}

func equal[T any](a, b *T, same func(T, T) bool) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return same(*a, *b)
}
