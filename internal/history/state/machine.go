// Package state reads and writes a program's state file: markdown for people,
// with one table, the Machine State, that the scheduler reads. Reading is
// tolerant of what people and other tools write; writing changes only what it
// must and keeps every other byte. It does no I/O.
package state

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// MaxBytes is the size under which a state file is held.
const MaxBytes = 30720

// MaxStatuses is how many outcomes Recent Statuses keeps.
const MaxStatuses = 10

// Machine is the Machine State table, its rows in the order in which they are written, by the words in
// their first column. The zero value of a field is a row that is missing or holds the null sign.
type Machine struct {
	// LastRun is the start of the last run in UTC; nil when it never ran.
	LastRun        *time.Time `row:"Last Run"`
	IterationCount int        `row:"Iteration Count"`
	// InitialMetric is iteration 0's, BestMetric the incumbent's.
	InitialMetric *metric.Value `row:"Initial Metric"`
	BestMetric    *metric.Value `row:"Best Metric"`
	TargetMetric  *metric.Value `row:"Target Metric"`
	// Direction is Higher when the row is missing.
	Direction metric.Direction `row:"Metric Direction"`
	Branch    string           `row:"Branch"`
	// PR and Issue are numbers on GitHub; 0 for none.
	PR              int    `row:"PR"`
	Issue           int    `row:"Issue"`
	Paused          bool   `row:"Paused"`
	PauseReason     string `row:"Pause Reason"`
	Completed       bool   `row:"Completed"`
	CompletedReason string `row:"Completed Reason"`
	// ConsecutiveErrors counts the errors in a row up to now.
	ConsecutiveErrors int `row:"Consecutive Errors"`
	// RecentStatuses holds the last outcomes in lower case, newest last; MaxStatuses of them are written.
	RecentStatuses []string `row:"Recent Statuses"`
	// NotBefore is when an iteration that was put off may begin again, in UTC;
	// nil for none.
	NotBefore *time.Time `row:"Not Before"`

	// DirectionGiven says that the row of the direction is there with a value.
	DirectionGiven bool
}

func lastStatuses(all []string) []string { return all[max(len(all)-MaxStatuses, 0):] }

// Compare hands on the rows in which another table has another cell.
func (m Machine) Compare(other Machine, each func(row, is, other string)) {
	for f := range fieldCount {
		if is, another := f.cell(&m), f.cell(&other); is != another {
			each(f.name(), is, another)
		}
	}
}

// Pending says whether the last iteration still waits for CI.
func (m Machine) Pending() bool {
	last := len(m.RecentStatuses) - 1
	return last >= 0 && m.RecentStatuses[last] == string(PendingCI)
}

// Problem is something in a state file that a person should look at.
type Problem struct {
	// Line counts from 1; 0 is the whole file.
	Line    int
	Message string
}

// Error returns the message, without the line.
func (p *Problem) Error() string { return p.Message }

// Warning is a Problem in spite of which the state was read.
type Warning = Problem

type field int

// The rows, in the order in which they are written.
const (
	lastRun field = iota
	iterationCount
	initialMetric
	bestMetric
	targetMetric
	metricDirection
	branch
	pullRequest
	issue
	paused
	pauseReason
	completed
	completedReason
	consecutiveErrors
	recentStatuses
	notBefore
	fieldCount
)

// name are the words in the first column.
func (f field) name() string { return reflect.TypeFor[Machine]().Field(int(f)).Tag.Get("row") }

// fieldNamed is the row with these words in its first column.
func fieldNamed(words string) (field, bool) {
	if words == "pull request" {
		return pullRequest, true
	}
	for f := range fieldCount {
		if strings.EqualFold(f.name(), words) {
			return f, true
		}
	}
	return 0, false
}

// of is where a Machine has the value of a row.
func (f field) of(m *Machine) any {
	value := reflect.ValueOf(m).Elem().Field(int(f)).Addr().Interface()
	switch f { //nolint:exhaustive // the rest is written as its type says
	case pullRequest, issue:
		return (*number)(value.(*int)) //nolint:forcetypeassert,errcheck // it is one
	case pauseReason, completedReason:
		return (*prose)(value.(*string)) //nolint:forcetypeassert,errcheck // it is one
	}
	return value
}

// number is one on GitHub, prose the words of a person: how they are written, their types say.
type (
	number int
	prose  string
)

// Stopped says why a program takes no iteration and how it goes on; "" when it is
// neither paused nor completed. It is printed by many, so that nothing hidden is in it.
func (m Machine) Stopped(name string) string {
	switch {
	case m.Completed:
		return "completed: " + cmp.Or(plain.Line(m.CompletedReason), "its target is reached") + m.resume(name)
	case m.Paused:
		return "paused: " + cmp.Or(plain.Line(m.PauseReason), "by hand") + m.resume(name)
	default:
		return ""
	}
}

// resume says how a program goes on. A comment is read where it has an issue or a
// pull request.
func (m Machine) resume(name string) string {
	here := "`iterate resume " + name + "`"
	if m.Issue == 0 && m.PR == 0 {
		return "; go on with " + here
	}
	return "; go on with `/autoloop resume` or " + here
}

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
	row := f.row(text)
	for before := f - 1; before >= 0; before-- {
		if c := found.cells[before]; c.there {
			if c.row.next == c.row.end {
				d.splice(c.row.end, c.row.end, "\n"+strings.TrimSuffix(row, "\n"))
			} else {
				d.splice(c.row.next, c.row.next, row)
			}
			return
		}
	}
	for _, c := range found.cells[f:] {
		if c.there {
			d.splice(c.row.start, c.row.start, row)
			return
		}
	}
}

// Table is the table in markdown. Not Before is in it only when it says something.
func (m Machine) Table() string {
	out := "| Field | Value |\n|-------|-------|\n"
	for f := range fieldCount {
		if text := f.cell(&m); f != notBefore || text != null {
			out += f.row(text)
		}
	}
	return out
}

func (f field) row(text string) string { return fmt.Sprintf("| %s | %s |\n", f.name(), text) }

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
