package state

import (
	"bytes"
	"fmt"
)

// cell is where the value of a row is: data[start:end] without the spaces
// around it, in the line with that number that begins at row. Thousands of tables are
// read, so it is small; no file is longer than maxRead.
type cell struct {
	start, end, row, number int32
	there                   bool
}

// line is that of the row, without its number.
func (c cell) line(data []byte) line { return lineAt(data, int(c.row)) }

type table struct {
	cells [fieldCount]cell
	// section is the heading's line.
	section line
	// last is the last row or separator of the table.
	last line
	rows int
	// twice are warnings of rows that are given again: the last counts.
	twice []Warning
}

// maxRead is the size from which a file is no state file.
const maxRead = 1 << 20

// noTable says what to do about a file without a table: it is never taken for
// a program that never ran.
const noTable = "there is no Machine State table with known rows in it; restore it from the history of the branch memory/autoloop, or delete the file to start anew"

// findTable locates the first Machine State section and its rows.
func findTable(data []byte) (table, *Problem) {
	var t table
	if len(data) > maxRead {
		return t, &Problem{Message: fmt.Sprintf("the state file has %d bytes, more than %d; shorten it", len(data), maxRead)}
	}
	walk := lines{data: data}
	section, found := walk.machineState()
	if !found {
		return t, &Problem{Message: noTable}
	}
	t.section, t.last = section, section
	for {
		current, level, ok := walk.next()
		if !ok || level > 0 {
			break
		}
		if current.start < walk.inert {
			continue
		}
		t.row(data, current)
	}
	if t.rows == 0 {
		return t, &Problem{Line: t.section.number, Message: noTable}
	}
	return t, nil
}

// machineState walks to the heading of the first Machine State section.
func (l *lines) machineState() (line, bool) {
	for {
		current, level, ok := l.next()
		if !ok || level > 0 && kindOf(l.text(current)) == machineState {
			return current, ok
		}
	}
}

// row notes the line's cell when its first column names a known row.
func (t *table) row(data []byte, at line) {
	text := data[at.start:at.end]
	first := nextPipe(text, 0)
	if first < 0 {
		return
	}
	key, rest := text[:first], first+1
	if len(bytes.TrimSpace(key)) == 0 {
		second := nextPipe(text, rest)
		if second < 0 {
			second = len(text)
		}
		key, rest = text[rest:second], min(second+1, len(text))
	}
	t.last = at
	var buffer [32]byte
	name, known := fieldNamed(normal(buffer[:], key))
	if !known {
		return
	}
	if t.cells[name].there {
		t.twice = append(t.twice, Warning{Line: at.number, Message: fmt.Sprintf("the row %s is there twice (also in line %d); this one counts: remove the other", name.name(), t.cells[name].number)})
	}
	start, end := valueSpan(text, rest, name)
	t.cells[name] = cell{start: int32(at.start + start), end: int32(at.start + end), row: int32(at.start), number: int32(at.number), there: true}
	t.rows++
}

// valueSpan finds the second column. In the rows that hold prose an unescaped
// pipe belongs to the text, unless it is the one that closes the row.
func valueSpan(text []byte, start int, name field) (int, int) {
	end := nextPipe(text, start)
	if name == pauseReason || name == completedReason {
		trimmed := bytes.TrimRight(text, " \t")
		end = len(trimmed)
		if end > start && trimmed[end-1] == '|' && !escaped(trimmed, end-1) {
			end--
		}
	}
	if end < 0 {
		end = len(text)
	}
	for start < end && isSpace(text[start]) {
		start++
	}
	for end > start && isSpace(text[end-1]) {
		end--
	}
	return start, end
}

// nextPipe returns the offset of the next unescaped pipe, or -1.
func nextPipe(text []byte, from int) int {
	for at := from; at < len(text); at++ {
		next := bytes.IndexByte(text[at:], '|')
		if next < 0 {
			return -1
		}
		if at += next; !escaped(text, at) {
			return at
		}
	}
	return -1
}

// escaped says whether the byte at an offset follows an odd number of
// backslashes.
func escaped(text []byte, at int) bool {
	n := 0
	for at-n-1 >= 0 && text[at-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }
