package state

import (
	"bytes"
	"iter"
	"strings"
)

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
