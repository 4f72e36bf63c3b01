// Package results is the table of a program's iterations as tab-separated
// text, one row an iteration, that people plot and other tools read. It does
// no I/O.
package results

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/org/autoloop/internal/metric"
)

// Action is what became of an iteration.
type Action string

// The actions.
const (
	Baseline Action = "baseline" // measured without a change
	Kept     Action = "kept"     // the change is the new incumbent
	Reverted Action = "reverted" // the change was dropped, for whatever reason
)

// InitialEvaluation is the changelog of the first baseline row.
const InitialEvaluation = "Initial evaluation"

// Header is the first line of the format, without its ending.
const Header = "iteration\ttimestamp\tscore\tbest_score\taction\tchangelog"

// maxChangelog bounds the changelog of one row, in runes.
const maxChangelog = 1000

// Row is one line of the table.
type Row struct {
	Iteration int
	Time      time.Time
	// Score is nil when nothing was measured.
	Score *metric.Value
	// Best is the best score since the last baseline, this row included; nil
	// without one. Append fills it in.
	Best   *metric.Value
	Action Action
	// Changelog is any text: line breaks and tabs are escaped in the file.
	Changelog string
}

// Table is a results file in memory. It keeps the bytes that were there.
type Table struct {
	data []byte
	rows []Row
	// lastStart is where the last row begins in data.
	lastStart int
}

// Rows returns the rows in the order of the file.
func (t *Table) Rows() []Row { return slices.Clone(t.rows) }

// Is reports whether the table is that of a file.
func (t *Table) Is(file []byte) bool { return bytes.Equal(t.data, file) }

// Bytes returns the file; a table without rows is its header.
func (t *Table) Bytes() []byte {
	if len(t.data) == 0 {
		return []byte(Header + "\n")
	}
	return bytes.Clone(t.data)
}

// highWater is the high-water mark since the last baseline row: the best score,
// by direction, among that row and the kept ones after it; nil when nothing of
// these was measured.
func highWater(rows []Row, direction metric.Direction) *metric.Value {
	var best *metric.Value
	for i := range rows {
		best = rows[i].bestAfter(best, direction)
	}
	return best
}

// bestAfter is the best score after a row, where it was best before.
func (r Row) bestAfter(best *metric.Value, direction metric.Direction) *metric.Value {
	if r.Action == Baseline || r.Action == Kept && r.Score != nil && direction.Improved(*r.Score, best) {
		return r.Score
	}
	return best
}

// Append adds a row and fills in its Best. Adding an iteration with the same
// action again changes nothing, so that an interrupted run can record twice;
// only when that is the last row, and says something else now, is it replaced.
func (t *Table) Append(row Row, direction metric.Direction) error {
	if err := row.check(); err != nil {
		return err
	}
	row.Time = row.Time.UTC().Truncate(time.Second)
	row.Changelog = clean(row.Changelog)
	last := len(t.rows) - 1
	at := slices.IndexFunc(t.rows, func(r Row) bool { return r.Iteration == row.Iteration && r.Action == row.Action })
	if at >= 0 && at != last {
		return nil
	}
	if at >= 0 {
		row.Best = row.bestAfter(highWater(t.rows[:last], direction), direction)
		if row.line() == t.rows[last].line() {
			return nil
		}
		t.data, t.rows = t.data[:t.lastStart], t.rows[:last]
	}
	t.add(row, direction)
	return nil
}

func (t *Table) add(row Row, direction metric.Direction) {
	row.Best = row.bestAfter(highWater(t.rows, direction), direction)
	if len(t.data) == 0 {
		t.data = []byte(Header + "\n")
	}
	if t.data[len(t.data)-1] != '\n' {
		t.data = append(t.data, '\n')
	}
	t.lastStart = len(t.data)
	t.data = append(t.data, row.line()...)
	t.rows = append(t.rows, row)
}

func (r Row) check() error {
	switch r.Action {
	case Baseline, Kept, Reverted:
	default:
		return fmt.Errorf("results: the action %q is not baseline, kept or reverted", clip(string(r.Action)))
	}
	if r.Iteration < 0 {
		return fmt.Errorf("results: there is no iteration %d", r.Iteration)
	}
	return nil
}
