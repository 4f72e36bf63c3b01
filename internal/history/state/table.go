package state

import (
	"bytes"
	"fmt"
	"iter"
	"strings"
)

// cell is where the value of a row is: data[start:end] without the spaces around it.
type cell struct {
	row        line
	start, end int
	there      bool
}

type table struct {
	cells [fieldCount]cell
	// section is the heading's line.
	section line
	// last is the last row or separator of the table.
	last line
	// twice are warnings of rows that are given again: the last counts.
	twice []Warning
}

// maxRead is the size from which a file is no state file.
const maxRead = 1 << 20

// noTable says what to do about a file without a table: it is never taken for
// a program that never ran.
const noTable = "there is no Machine State table with known rows in it; restore it from the history of the branch " +
	"memory/autoloop, or delete the file to start anew"

// findTable locates the first Machine State section and its rows.
func findTable(data []byte) (t table, problem *Problem) {
	if len(data) > maxRead {
		return t, &Problem{Message: fmt.Sprintf("the state file has %d bytes, more than %d; shorten it",
			len(data), maxRead)}
	}
	known := false
walk:
	for at := range linesOf(data) {
		switch {
		case t.section.number == 0:
			if at.level > 0 && kindOf(data[at.start:at.end]) == machineState {
				t.section, t.last = at, at
			}
		case at.level > 0:
			break walk
		case !at.inert:
			known = t.row(data, at) || known
		}
	}
	if !known {
		return t, &Problem{Line: t.section.number, Message: noTable}
	}
	return t, nil
}

// row notes the line's cell when its first column names a known row.
func (t *table) row(data []byte, at line) bool {
	text := data[at.start:at.end]
	key, rest := column(text, 0)
	if rest > len(text) {
		return false // it has no pipe
	}
	if len(bytes.TrimSpace(key)) == 0 {
		key, rest = column(text, rest)
	}
	t.last = at
	f, known := fieldNamed(words(key))
	if !known {
		return false
	}
	if t.cells[f].there {
		t.twice = append(t.twice, Warning{
			Line: at.number,
			Message: fmt.Sprintf("the row %s is there twice (also in line %d); this one counts: remove the other",
				f.name(), t.cells[f].row.number),
		})
	}
	rest = min(rest, len(text))
	value, _ := column(text, rest)
	if f == pauseReason || f == completedReason {
		// In prose a pipe belongs to the text, unless it is the one that closes the row.
		value = bytes.TrimRight(text[rest:], " \t")
		if last := len(value) - 1; last >= 0 && value[last] == '|' && !escaped(value, last) {
			value = value[:last]
		}
	}
	end := at.start + rest + len(bytes.TrimRight(value, " \t"))
	start := end - len(bytes.Trim(value, " \t"))
	t.cells[f] = cell{at, start, end, true}
	return true
}

// column is what stands up to the next unescaped pipe, and where the column behind it begins.
func column(text []byte, from int) (cell []byte, next int) {
	for at := from; at < len(text); at++ {
		if text[at] == '|' && !escaped(text, at) {
			return text[from:at], at + 1
		}
	}
	return text[from:], len(text) + 1
}

// escaped says whether the byte at an offset follows an odd number of
// backslashes.
func escaped(text []byte, at int) bool {
	return (at-len(bytes.TrimRight(text[:at], `\`)))%2 == 1
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// escapeCell makes text fit into a cell, from which it is read back exactly.
func escapeCell(text string) string {
	return strings.NewReplacer(`\`, `\\`, `|`, `\|`).Replace(text)
}

// line is one line of a file: data[start:end] without its ending, and the
// offset of the next line.
type line struct {
	start, end, next, number int
	level                    int  // of a heading, else 0
	inert                    bool // it begins, ends or is in a fence or an HTML comment
}

// linesOf walks through a file. Headings inside fences and HTML comments do not count. A
// fence or comment that is never closed hides nothing.
func linesOf(data []byte) iter.Seq[line] {
	return func(yield func(line) bool) {
		inert, number := 0, 0 // inert is the end of the fence or comment that the walk is in
		// unclosed is the length from which no fence of a character is closed any more,
		// so that hostile files are not searched again and again.
		unclosed := map[byte]int{}
		for next := 0; next < len(data); {
			at := lineAt(data, next)
			number, next = number+1, at.next
			at.number = number
			text := data[at.start:at.end]
			if number == 1 {
				text = bytes.TrimPrefix(text, []byte("\ufeff"))
			}
			if text = unindent(text); at.start >= inert && len(text) > 0 {
				mark, length := text[0], run(text, text[0])
				if mark == '#' && length <= 6 && (length == len(text) || isSpace(text[length])) {
					at.level = length
				}
				if most := unclosed[mark]; most == 0 || length < most {
					end, opens := closing(data, at, text, length)
					if inert = end; opens && end == 0 {
						unclosed[mark] = length
					}
				}
			}
			at.inert = at.start < inert
			if !yield(at) {
				return
			}
		}
	}
}

func lineAt(data []byte, start int) line {
	end, next := len(data), len(data)
	if at := bytes.IndexByte(data[start:], '\n'); at >= 0 {
		end, next = start+at, start+at+1
	}
	if end > start && data[end-1] == '\r' {
		end--
	}
	return line{start: start, end: end, next: next}
}

// unindent removes up to three spaces, as markdown does.
func unindent(text []byte) []byte { return text[min(run(text, ' '), 3):] }

// closing is where the fence or comment ends that a line opens, which begins with so many of its mark;
// 0 when it does not end.
func closing(data []byte, at line, text []byte, length int) (end int, opens bool) {
	mark := text[0]
	if bytes.HasPrefix(text, []byte("<!--")) {
		if end = bytes.Index(data[at.start:], []byte("-->")); end < 0 {
			return 0, true
		}
		return lineAt(data, at.start+end).next, true
	}
	if length < 3 || mark != '~' && (mark != '`' || bytes.IndexByte(text[length:], '`') >= 0) {
		return 0, false
	}
	for at.next < len(data) {
		at = lineAt(data, at.next)
		text = unindent(data[at.start:at.end])
		if n := run(text, mark); n >= length && len(bytes.TrimSpace(text[n:])) == 0 {
			return at.next, true
		}
	}
	return 0, true
}

func run(text []byte, mark byte) int {
	n := 0
	for n < len(text) && text[n] == mark {
		n++
	}
	return n
}

// words are those of a text in lower case with single spaces. Everything but ASCII letters and
// digits separates them, so that emoji, variation selectors and markup do not matter.
func words(text []byte) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(string(text)), func(r rune) bool {
		return ('a' > r || r > 'z') && ('0' > r || r > '9')
	}), " ")
}
