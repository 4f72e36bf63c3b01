package actions

import (
	"io"
	"unicode/utf8"
)

// escapedLog keeps what is printed from being a workflow command of GitHub
// Actions, whatever files, issues or agents put into it: no line begins with
// `::`, and `##[` is nowhere. An invisible character stands in between.
type escapedLog struct {
	out io.Writer
	// inside says that the line has more than white space already, hashes and
	// colon count those just before.
	inside        bool
	hashes, colon int
}

// apart is the invisible character: a space of no width.
const apart = "\u200b"

// Write writes all of p, with what escapes it. It counts the bytes of p.
func (l *escapedLog) Write(p []byte) (int, error) {
	safe := make([]byte, 0, len(p))
	for _, b := range p {
		if b == '[' && l.hashes >= 2 || b == ':' && l.colon == 1 {
			safe = append(safe, apart...)
		}
		safe = append(safe, b)
		l.pass(b)
	}
	if _, err := l.out.Write(safe); err != nil {
		return 0, err
	}
	return len(p), nil
}

// pass notes one byte.
func (l *escapedLog) pass(b byte) {
	if b == '#' {
		l.hashes++
	} else {
		l.hashes = 0
	}
	switch {
	case b == '\n' || b == '\r':
		l.inside, l.colon = false, 0
	case b == ':' && !l.inside && l.colon == 0:
		l.colon = 1
	case b == ' ' || b == '\t' || b == '\v' || b == '\f' || b >= utf8.RuneSelf: // the last may be white space
		l.colon = 0
	default:
		l.inside, l.colon = true, 0
	}
}

// unescaped is the stream itself, for workflow commands of our own.
func unescaped(w io.Writer) io.Writer {
	if l, ok := w.(*escapedLog); ok {
		return l.out
	}
	return w
}

// EscapeLog returns a stream for output that the runner may read as a job's log.
func EscapeLog(w io.Writer) io.Writer { return &escapedLog{out: w} }
