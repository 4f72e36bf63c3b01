package results

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/cure"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// timeForm is how times are written; the zone is always +00:00.
const timeForm = "2006-01-02T15:04:05-07:00"

// columns is how many there are; more are kept and ignored.
const columns = 6

// maxLine bounds one line of a file that is read.
const maxLine = 1 << 20

// Parse reads a results file; no data is a table without rows. It takes CRLF,
// a byte order mark, blank lines, empty cells and further columns. The error
// names the line.
func Parse(data []byte) (*Table, error) {
	t := &Table{data: bytes.Clone(data)}
	number, offset, headed := 0, 0, false
	for raw := range bytes.Lines(data) {
		number++
		start := offset
		offset += len(raw)
		text := strings.TrimRight(string(raw), "\r\n")
		if number == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		switch {
		case strings.TrimSpace(text) == "":
			continue
		case len(text) > maxLine:
			return nil, cure.Unreadable.Errorf("results line %d: it has more than %d bytes", number, maxLine)
		case !headed:
			if !isHeader(text) {
				return nil, cure.Unreadable.Errorf("results line %d: it is not the header %q", number, Header)
			}
			headed = true
			continue
		}
		row, err := parseRow(text)
		if err != nil {
			return nil, cure.Unreadable.Errorf("results line %d: %w", number, err)
		}
		t.rows = append(t.rows, row)
		t.lastStart = start
	}
	if !headed {
		t.data = nil
	}
	return t, nil
}

func isHeader(text string) bool {
	words := strings.Split(strings.ToLower(text), "\t")
	if len(words) < columns {
		return false
	}
	for i, want := range strings.Split(Header, "\t") {
		if strings.TrimSpace(words[i]) != want {
			return false
		}
	}
	return true
}

func parseRow(text string) (Row, error) {
	cells := strings.Split(text, "\t")
	if len(cells) < columns-1 {
		return Row{}, fmt.Errorf("%d columns, where %d are needed", len(cells), columns)
	}
	var row Row
	var err error
	if row.Iteration, err = strconv.Atoi(strings.TrimSpace(cells[0])); err != nil || row.Iteration < 0 {
		return Row{}, fmt.Errorf("the iteration %q is no count", clip(cells[0]))
	}
	if row.Time, err = parseTime(strings.TrimSpace(cells[1])); err != nil {
		return Row{}, err
	}
	if row.Score, err = parseScore("score", cells[2]); err != nil {
		return Row{}, err
	}
	if row.Best, err = parseScore("best_score", cells[3]); err != nil {
		return Row{}, err
	}
	row.Action = Action(strings.ToLower(strings.TrimSpace(cells[4])))
	if err := row.check(); err != nil {
		return Row{}, fmt.Errorf("the action %q is not baseline, kept or reverted", clip(cells[4]))
	}
	if len(cells) >= columns {
		row.Changelog = unescape(cells[5])
		if len(row.Changelog) > maxChangelog || !isPlain(row.Changelog) {
			row.Changelog = clean(row.Changelog)
		}
	}
	return row, nil
}

func parseTime(text string) (time.Time, error) {
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"} {
		if at, err := time.Parse(form, text); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("the timestamp %q is no time such as 2025-01-15T10:30:00+00:00", clip(text))
}

func parseScore(column, text string) (*metric.Value, error) {
	switch text = strings.TrimSpace(text); text {
	case "", "—", "-", "null":
		return nil, nil
	}
	value, err := metric.ParseValue(text)
	if err != nil {
		return nil, fmt.Errorf("the %s %w", column, err)
	}
	return &value, nil
}

func (r Row) line() string {
	return strings.Join([]string{
		strconv.Itoa(r.Iteration), r.Time.UTC().Format(timeForm), number(r.Score), number(r.Best), string(r.Action), escape(r.Changelog),
	}, "\t") + "\n"
}

func number(value *metric.Value) string {
	if value == nil {
		return ""
	}
	return value.String()
}

// clean bounds a changelog and takes out what no text file should have.
func clean(text string) string {
	text = plain.Text(text[:min(len(text), 4*maxChangelog)])
	return plain.Clip(strings.TrimSpace(text), maxChangelog)
}

func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(text)
}

// isPlain reports whether clean leaves a text as it is, as it does most.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return text == strings.TrimSpace(text)
}

func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	return strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r").Replace(text)
}

func clip(text string) string { return plain.Short(text, 60) }
