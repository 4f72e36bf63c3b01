package state

import "bytes"

// line is one line of a file: data[start:end] without its ending, and the
// offset of the next line.
type line struct {
	start, end, next, number int
}

// lines walks through a file, and knows which lines are headings: those inside
// fences and HTML comments are not. A fence or comment that is never closed
// hides nothing.
type lines struct {
	data   []byte
	pos    int
	number int
	// inert is the end of the fence or comment that the walk is in.
	inert int
	// openFence is the length from which no fence of a character is closed any
	// more, so that hostile files are not searched again and again.
	openFence   map[byte]int
	openComment bool
}

// next returns the next line and its heading level, 0 when it is no heading.
func (l *lines) next() (current line, level int, ok bool) {
	if l.pos >= len(l.data) {
		return line{}, 0, false
	}
	l.number++
	current = lineAt(l.data, l.pos)
	current.number = l.number
	l.pos = current.next
	if current.start < l.inert {
		return current, 0, true
	}
	text := l.data[current.start:current.end]
	if current.start == 0 {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	text = unindent(text)
	if len(text) == 0 {
		return current, 0, true
	}
	switch text[0] {
	case '#':
		return current, headingLevel(text), true
	case '`', '~':
		l.fence(text, current)
	case '<':
		l.comment(text, current)
	}
	return current, 0, true
}

func (l *lines) text(at line) []byte { return l.data[at.start:at.end] }

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
func unindent(text []byte) []byte {
	for range 3 {
		if len(text) == 0 || text[0] != ' ' {
			break
		}
		text = text[1:]
	}
	return text
}

func headingLevel(text []byte) int {
	level := run(text, '#')
	if level > 6 || (level < len(text) && text[level] != ' ' && text[level] != '\t') {
		return 0
	}
	return level
}

func (l *lines) fence(text []byte, opening line) {
	mark := text[0]
	length := run(text, mark)
	if length < 3 || (mark == '`' && bytes.IndexByte(text[length:], '`') >= 0) {
		return
	}
	if open, ok := l.openFence[mark]; ok && length >= open {
		return
	}
	for at := opening.next; at < len(l.data); {
		current := lineAt(l.data, at)
		candidate := unindent(l.data[current.start:current.end])
		if n := run(candidate, mark); n >= length && len(bytes.TrimSpace(candidate[n:])) == 0 {
			l.inert = current.next
			return
		}
		at = current.next
	}
	if l.openFence == nil {
		l.openFence = map[byte]int{}
	}
	l.openFence[mark] = length
}

func (l *lines) comment(text []byte, opening line) {
	if l.openComment || !bytes.HasPrefix(text, []byte("<!--")) {
		return
	}
	end := bytes.Index(l.data[opening.start:], []byte("-->"))
	if end < 0 {
		l.openComment = true
		return
	}
	l.inert = lineAt(l.data, opening.start+end).next
}

func run(text []byte, mark byte) int {
	n := 0
	for n < len(text) && text[n] == mark {
		n++
	}
	return n
}

// normal writes the words of text in lower case with single spaces into buffer
// and returns them. Everything but ASCII letters and digits separates words,
// so emoji, variation selectors and markup do not matter.
func normal(buffer, text []byte) []byte {
	out := buffer[:0]
	gap := false
	for _, c := range text {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if ('a' > c || c > 'z') && ('0' > c || c > '9') {
			gap = len(out) > 0
			continue
		}
		if len(out)+2 > cap(buffer) {
			break
		}
		if gap {
			out = append(out, ' ')
			gap = false
		}
		out = append(out, c)
	}
	return out
}
