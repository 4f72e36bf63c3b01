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
	rows []placed
	// quoted says that fields are quoted, and nothing is escaped.
	quoted bool
}

// placed is a row and where it begins in the file.
type placed struct {
	Row
	start int
}

// Rows returns the rows in the order of the file.
func (t *Table) Rows() []Row {
	rows := make([]Row, len(t.rows))
	for i, p := range t.rows {
		rows[i] = p.Row
	}
	return rows
}

// Bytes returns the file, which is not to be changed; a table without rows is its
// header.
func (t *Table) Bytes() []byte {
	if len(t.data) == 0 {
		return []byte(Header + "\n")
	}
	return t.data
}

// highWater is the high-water mark since the last baseline row, before the row with
// that index: the best score, by direction, among that row and the kept ones after it;
// nil when nothing of these was measured.
func (t *Table) highWater(before int, direction metric.Direction) *metric.Value {
	var best *metric.Value
	from := before
	for from > 0 && t.rows[from-1].Action != Baseline {
		from--
	}
	for i := max(from-1, 0); i < before; i++ {
		best = t.rows[i].BestAfter(best, direction)
	}
	return best
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
	row = row.Written()
	end := len(t.rows)
	at := slices.IndexFunc(t.rows, func(p placed) bool {
		return p.Iteration == row.Iteration && p.Action == row.Action
	})
	if at >= 0 {
		if at != end-1 {
			return nil
		}
		end = at
	}
	row.Best = row.BestAfter(t.highWater(end, direction), direction)
	if at >= 0 {
		if t.line(row) == t.line(t.rows[at].Row) {
			return nil
		}
		start := t.rows[at].start
		t.data, t.rows = t.data[:start:start], t.rows[:at]
	}
	t.add(row)
	return nil
}

// add writes the row behind the others. What Bytes returned before stays as it is.
func (t *Table) add(row Row) {
	if len(t.data) == 0 {
		t.data = []byte(Header + "\n")
	}
	if t.data[len(t.data)-1] != '\n' {
		t.data = append(t.data, '\n')
	}
	t.rows = append(t.rows, placed{row, len(t.data)})
	t.data = append(t.data, t.line(row)...)
}

// Written is a row as it is read again.
func (r Row) Written() Row {
	r.Time, r.Changelog = r.Time.UTC().Truncate(time.Second), clean(r.Changelog)
	return r
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
