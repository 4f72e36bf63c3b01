// Package results is the table of a program's iterations as tab-separated
// text, one row an iteration, that people plot and other tools read. It does
// no I/O.
package results

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
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
	Iteration int       `json:"iteration"`
	Time      time.Time `json:"-"`
	// Score is nil when nothing was measured.
	Score *metric.Value `json:"score"`
	// Best is the best score since the last baseline, this row included; nil
	// without one. Append fills it in.
	Best   *metric.Value `json:"best_score"`
	Action Action        `json:"action"`
	// Changelog is any text: line breaks and tabs are escaped or quoted in the file.
	Changelog string `json:"changelog"`
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
func (t *Table) Append(row Row, direction metric.Direction) {
	at := slices.IndexFunc(t.rows, func(r Row) bool { return r.Iteration == row.Iteration && r.Action == row.Action })
	switch last := len(t.rows) - 1; {
	case at < 0:
		at = len(t.rows)
	case at < last:
		return
	}
	var best *metric.Value
	for _, r := range t.rows[:at] {
		best = r.BestAfter(best, direction)
	}
	row.Time, row.Changelog = row.Time.UTC().Truncate(time.Second), clean(row.Changelog)
	row.Best = row.BestAfter(best, direction)
	if at < len(t.rows) {
		if t.line(row) == t.line(t.rows[at]) {
			return
		}
		t.data = t.data[:t.last:t.last] // what Bytes returned before stays as it is
	}
	t.data = t.Bytes()
	if t.data[len(t.data)-1] != '\n' {
		t.data = append(t.data, '\n')
	}
	t.rows, t.last = append(t.rows[:at], row), len(t.data)
	t.data = append(t.data, t.line(row)...)
}

// timeForm is how times are written; the zone is always +00:00.
const timeForm = "2006-01-02T15:04:05-07:00"

// columns is how many there are; more are kept and ignored.
const columns = 6

// maxLine bounds one line of a file that is read.
const maxLine = 1 << 20

// Parse reads a results file, which is not to be changed after; no data is a table
// without rows. It takes CRLF, a byte order mark, blank lines, empty cells and further
// columns. The error names the line.
func Parse(data []byte) (*Table, error) { return parse(data, false) }

// ParseQuoted is Parse for a file whose fields are quoted as Python's csv module
// does with tabs between them: a field may have tabs, line breaks and quotes.
func ParseQuoted(data []byte) (*Table, error) { return parse(data, true) }

func parse(data []byte, quoted bool) (*Table, error) {
	t := &Table{data: data[:len(data):len(data)], quoted: quoted}
	text := strings.TrimPrefix(string(data), "\ufeff")
	split := lines
	if quoted {
		split = fields
	}
	records := split(text)
	if len(records) == 0 {
		return &Table{quoted: quoted}, nil
	}
	for i, r := range records {
		var row Row
		var err error
		switch {
		case r.size > maxLine:
			err = fmt.Errorf("it has more than %d bytes", maxLine)
		case i > 0:
			row, err = t.read(r.cells)
			t.rows, t.last = append(t.rows, row), len(data)-len(text)+r.start
		case !isHeader(r.cells):
			err = fmt.Errorf("it is not the header %q", Header)
		}
		if err != nil {
			return nil, fmt.Errorf("results line %d: %w", r.number, err)
		}
	}
	return t, nil
}

// record is a row of a file as its cells, where it begins, and how long it is with its ending.
type record struct {
	cells               []string
	start, size, number int
}

// lines are the records of a file of which each line is one.
func lines(text string) (list []record) {
	start, number := 0, 0
	for line := range strings.Lines(text) {
		number++
		if strings.TrimSpace(line) != "" {
			cells := strings.SplitN(strings.TrimRight(line, "\r\n"), "\t", columns+1)
			list = append(list, record{cells, start, len(line), number})
		}
		start += len(line)
	}
	return list
}

// fields are the records of a file with quotes.
func fields(text string) (list []record) {
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma, reader.LazyQuotes, reader.FieldsPerRecord = '\t', true, -1
	for {
		start := int(reader.InputOffset())
		cells, err := reader.Read()
		if err != nil {
			return list // it is the end: with LazyQuotes no quote is wrong
		}
		number, _ := reader.FieldPos(0)
		if strings.TrimSpace(strings.Join(cells, "")) != "" {
			list = append(list, record{cells, start, int(reader.InputOffset()) - start, number})
		}
	}
}

func isHeader(cells []string) bool {
	words := strings.Fields(strings.Join(cells[:min(len(cells), columns)], "\t"))
	return strings.EqualFold(strings.Join(words, "\t"), Header)
}

// read is the row that its cells say.
func (t *Table) read(cells []string) (row Row, err error) {
	if len(cells) < columns-1 {
		return row, fmt.Errorf("%d columns, where %d are needed", len(cells), columns)
	}
	if row.Iteration, err = strconv.Atoi(strings.TrimSpace(cells[0])); err != nil || row.Iteration < 0 {
		return row, fmt.Errorf("the iteration %q is no count", clip(cells[0]))
	}
	var is bool
	if row.Time, is = state.ParseTime(strings.TrimSpace(cells[1])); !is {
		return row, fmt.Errorf("the timestamp %q is no time such as 2025-01-15T10:30:00+00:00", clip(cells[1]))
	}
	if row.Score, err = scoreIn("score", cells[2]); err != nil {
		return row, err
	}
	if row.Best, err = scoreIn("best_score", cells[3]); err != nil {
		return row, err
	}
	row.Action = Action(strings.ToLower(strings.TrimSpace(cells[4])))
	if !slices.Contains([]Action{Baseline, Kept, Reverted}, row.Action) {
		return row, fmt.Errorf("the action %q is not baseline, kept or reverted", clip(cells[4]))
	}
	if len(cells) >= columns {
		row.Changelog = cells[columns-1]
	}
	if !t.quoted {
		row.Changelog = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r").Replace(row.Changelog)
	}
	row.Changelog = clean(row.Changelog)
	return row, nil
}

// scoreIn is the number in a cell, nil where the cell is empty.
func scoreIn(column, text string) (*metric.Value, error) {
	switch text = strings.TrimSpace(text); text {
	case "", "—", "-", "null":
		return nil, nil //nolint:nilnil // an empty cell is no number
	}
	value, err := metric.ParseValue(text)
	if err != nil {
		return nil, fmt.Errorf("the %s %w", column, err)
	}
	return &value, nil
}

// line is a row as it is written in the file.
func (t *Table) line(r Row) string {
	text := r.Changelog
	switch {
	case !t.quoted:
		text = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(text)
	case strings.ContainsAny(text, "\t\n\r\""):
		text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return strings.Join([]string{
		strconv.Itoa(r.Iteration), r.Time.UTC().Format(timeForm), metric.Text(r.Score, ""), metric.Text(r.Best, ""),
		string(r.Action), text,
	}, "\t") + "\n"
}

// Line is a row as it is written where nothing is quoted.
func (r Row) Line() string { return (&Table{}).line(r) }

// clean bounds a changelog and takes out what no text file should have.
func clean(text string) string {
	text = plain.Text(text[:min(len(text), 4*maxChangelog)])
	return plain.Clip(strings.TrimSpace(text), maxChangelog)
}

func clip(text string) string { return plain.Short(text, 60) }
