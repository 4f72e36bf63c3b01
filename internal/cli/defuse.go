package cli

import (
	"io"
	"unicode/utf8"
)

// defused keeps what is printed from being a workflow command of GitHub
// Actions, whatever files, issues or agents put into it: no line begins with
// `::`, and `##[` is nowhere. An invisible character stands in between.
type defused struct {
	out io.Writer
	// inside says that the line has more than white space already, hashes and
	// colon count those just before.
	inside        bool
	hashes, colon int
}

// apart is the invisible character: a space of no width.
const apart = "\u200b"

// Write writes all of p, with what defuses it. It counts the bytes of p.
func (d *defused) Write(p []byte) (int, error) {
	safe := make([]byte, 0, len(p))
	for _, b := range p {
		if b == '[' && d.hashes >= 2 || b == ':' && d.colon == 1 {
			safe = append(safe, apart...)
		}
		safe = append(safe, b)
		d.pass(b)
	}
	if _, err := d.out.Write(safe); err != nil {
		return 0, err
	}
	return len(p), nil
}

// pass notes one byte.
func (d *defused) pass(b byte) {
	if b == '#' {
		d.hashes++
	} else {
		d.hashes = 0
	}
	switch {
	case b == '\n' || b == '\r':
		d.inside, d.colon = false, 0
	case b == ':' && !d.inside && d.colon == 0:
		d.colon = 1
	case b == ' ' || b == '\t' || b == '\v' || b == '\f' || b >= utf8.RuneSelf: // the last may be white space
		d.colon = 0
	default:
		d.inside, d.colon = true, 0
	}
}

// undefused is the stream itself, for workflow commands of our own.
func undefused(w io.Writer) io.Writer {
	if d, ok := w.(*defused); ok {
		return d.out
	}
	return w
}

// inLog is the environment whose output may be read as a job's log.
func inLog(e Env) Env {
	if e.InActions() {
		e.Stdout, e.Stderr = &defused{out: e.Stdout}, &defused{out: e.Stderr}
	}
	return e
}
