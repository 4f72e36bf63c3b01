package results

import (
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

// Parse reads a results file, which is not to be changed after; no data is a table
// without rows. It takes CRLF, a byte order mark, blank lines, empty cells and further
// columns. The error names the line.
func Parse(data []byte) (*Table, error) {
	// A row is about as long as the header. Lines are not counted: they may all be blank.
	t := &Table{data: data[:len(data):len(data)], rows: make([]place, 0, len(data)/len(Header))}
	number, offset, headed := 0, 0, false
	for raw := range strings.Lines(string(data)) {
		number++
		start := offset
		offset += len(raw)
		text := strings.TrimRight(raw, "\r\n")
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
		l, err := readLine(text)
		if err != nil {
			return nil, cure.Unreadable.Errorf("results line %d: %w", number, err)
		}
		t.rows = append(t.rows, place{start: start, iteration: l.iteration, action: l.action})
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

// line is what one says that was checked. All of a table are, of which few are needed.
type line struct {
	iteration              int
	time                   time.Time
	score, best, changelog string
	action                 Action
}

// readLine reads a line without its ending.
func readLine(text string) (l line, err error) {
	var cells [columns]string
	count := 0
	for rest, more := text, true; more && count < columns; count++ {
		cells[count], rest, more = strings.Cut(rest, "\t")
	}
	if count < columns-1 {
		return l, fmt.Errorf("%d columns, where %d are needed", count, columns)
	}
	if l.iteration, err = strconv.Atoi(strings.TrimSpace(cells[0])); err != nil || l.iteration < 0 {
		return l, fmt.Errorf("the iteration %q is no count", clip(cells[0]))
	}
	if l.time, err = parseTime(strings.TrimSpace(cells[1])); err != nil {
		return l, err
	}
	if l.score, err = scoreIn("score", cells[2]); err != nil {
		return l, err
	}
	if l.best, err = scoreIn("best_score", cells[3]); err != nil {
		return l, err
	}
	l.action = Action(strings.ToLower(strings.TrimSpace(cells[4])))
	if (Row{Action: l.action}).check() != nil {
		return l, fmt.Errorf("the action %q is not baseline, kept or reverted", clip(cells[4]))
	}
	l.changelog = cells[5]
	return l, nil
}

func (l line) row() Row {
	row := Row{Iteration: l.iteration, Time: l.time, Score: valueOf(l.score), Best: valueOf(l.best), Action: l.action, Changelog: unescape(l.changelog)}
	if len(row.Changelog) > maxChangelog || !isPlain(row.Changelog) {
		row.Changelog = clean(row.Changelog)
	}
	return row
}

func parseTime(text string) (time.Time, error) {
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"} {
		if at, err := time.Parse(form, text); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("the timestamp %q is no time such as 2025-01-15T10:30:00+00:00", clip(text))
}

// scoreIn is the number in a cell, "" where the cell is empty.
func scoreIn(column, text string) (string, error) {
	switch text = strings.TrimSpace(text); text {
	case "", "—", "-", "null":
		return "", nil
	}
	if err := metric.CheckValue(text); err != nil {
		return "", fmt.Errorf("the %s %w", column, err)
	}
	return text, nil
}

func valueOf(text string) *metric.Value {
	if value, err := metric.ParseValue(text); err == nil {
		return &value
	}
	return nil
}

func (r Row) line() string {
	return strings.Join([]string{
		strconv.Itoa(r.Iteration), r.Time.UTC().Format(timeForm), metric.Text(r.Score, ""), metric.Text(r.Best, ""), string(r.Action), escape(r.Changelog),
	}, "\t") + "\n"
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
