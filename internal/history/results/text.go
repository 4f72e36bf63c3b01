package results

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

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
	cells = slices.Clone(cells[:min(len(cells), columns)])
	for i, cell := range cells {
		cells[i] = strings.TrimSpace(cell)
	}
	return strings.EqualFold(strings.Join(cells, "\t"), Header)
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
	if row.check() != nil {
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
