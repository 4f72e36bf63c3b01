// Package results is the table of a program's iterations as tab-separated
// text, one row an iteration, that people plot and other tools read. It does
// no I/O.
package results

import (
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
	// Changelog is any text: line breaks and tabs are escaped or quoted in the file.
	Changelog string
}

// Table is a results file in memory. It keeps the bytes that were there.
type Table struct {
	data []byte
	rows []Row
	last int // where the last row begins in data
	// quoted says that fields are quoted, and nothing is escaped.
	quoted bool
}

// Rows returns the rows in the order of the file.
func (t *Table) Rows() []Row { return slices.Clone(t.rows) }

// Bytes returns the file, which is not to be changed; a table without rows is its
// header.
func (t *Table) Bytes() []byte {
	if len(t.data) == 0 {
		return []byte(Header + "\n")
	}
	return t.data
}

// BestAfter is the best score after a row, where it was best before.
func (r Row) BestAfter(best *metric.Value, direction metric.Direction) *metric.Value {
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
	at := slices.IndexFunc(t.rows, func(r Row) bool { return r.Iteration == row.Iteration && r.Action == row.Action })
	switch last := len(t.rows) - 1; {
	case at < 0:
		at = len(t.rows)
	case at < last:
		return nil
	}
	var best *metric.Value
	for _, r := range t.rows[:at] {
		best = r.BestAfter(best, direction)
	}
	row.Time, row.Changelog = row.Time.UTC().Truncate(time.Second), clean(row.Changelog)
	row.Best = row.BestAfter(best, direction)
	if at < len(t.rows) {
		if t.line(row) == t.line(t.rows[at]) {
			return nil
		}
		t.data = t.data[:t.last:t.last] // what Bytes returned before stays as it is
	}
	t.data = t.Bytes()
	if t.data[len(t.data)-1] != '\n' {
		t.data = append(t.data, '\n')
	}
	t.rows, t.last = append(t.rows[:at], row), len(t.data)
	t.data = append(t.data, t.line(row)...)
	return nil
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
