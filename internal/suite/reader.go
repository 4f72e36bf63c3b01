package suite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/metric"
)

// maxProblems bounds what is reported of one file.
const maxProblems = 200

// reader takes values out of a tree and collects everything that is wrong.
type reader struct {
	file     string
	problems Problems
	// stray is the first key that is not known and has a number that is not
	// finite.
	stray string
}

// newReader parses a file whose value must be an object; ok is false when it
// cannot be read at all.
func newReader(file string, data []byte, most int) (r *reader, root node, ok bool) {
	r, root, ok = readAny(file, data, most)
	return r, root, ok && r.is(root, "", objectKind)
}

// readAny is newReader for a file whose value may be of any type.
func readAny(file string, data []byte, most int) (r *reader, root node, ok bool) {
	r = &reader{file: file}
	if len(data) > most {
		r.problems = Problems{{File: file, Message: fmt.Sprintf("has more than %d KiB", most/1024)}}
		return r, node{}, false
	}
	root, twice, bad := parseNode(data)
	if bad != nil {
		r.problems = Problems{{File: file, Line: bad.line, Message: bad.err.Error()}}
		return r, node{}, false
	}
	for _, d := range twice {
		r.fail(node{line: d.line}, d.key, "is there twice; remove one")
	}
	return r, root, true
}

func (r *reader) fail(n node, key, format string, args ...any) {
	r.problems = r.problems.with(Problem{File: r.file, Line: n.line, Key: key, Message: fmt.Sprintf(format, args...)})
}

// is reports whether a value has the type that it must have.
func (r *reader) is(n node, key string, want kind) bool {
	if n.kind == want {
		return true
	}
	is := string(n.kind)
	switch n.kind {
	case textKind:
		is = "the text " + quote(n.text)
	case numberKind:
		is = "the number " + visible(n.text, maxShown)
	case objectKind, listKind, truthKind, nullKind:
	}
	r.fail(n, key, "must be %s, not %s", want, is)
	return false
}

// object takes an object apart: every key that is in take goes there, the
// required ones must be there, and any other is a problem when strict.
func (r *reader) object(n node, key string, take map[string]func(n node, key string), strict bool, required ...string) {
	if !r.is(n, key, objectKind) {
		return
	}
	var found []string
	for _, f := range n.fields {
		at := join(key, f.name)
		if read, known := take[f.name]; known {
			found = append(found, f.name)
			read(f.value, at)
		} else if strict {
			r.fail(f.value, at, "is no key that is known here; there are %s", names(take))
		} else if r.stray == "" {
			r.stray = nonFiniteIn(f.value, at)
		}
	}
	for _, name := range required {
		if !slices.Contains(found, name) {
			r.fail(n, join(key, name), "is missing")
		}
	}
}

// list calls read for every item.
func (r *reader) list(n node, key string, most int, read func(n node, key string)) {
	if !r.is(n, key, listKind) {
		return
	}
	if len(n.items) > most {
		r.fail(n, key, "has %d entries; %d is the most", len(n.items), most)
		return
	}
	for i, item := range n.items {
		read(item, fmt.Sprintf("%s[%d]", key, i))
	}
}

// text reads a text that is not blank, of at most that many bytes.
func (r *reader) text(n node, key string, most int) string {
	switch {
	case !r.is(n, key, textKind):
	case strings.TrimSpace(n.text) == "":
		r.fail(n, key, "is empty")
	case len(n.text) > most:
		r.fail(n, key, "has more than %d bytes", most)
	case strings.ContainsRune(n.text, 0):
		r.fail(n, key, "has a NUL character in it")
	default:
		return n.text
	}
	return ""
}

// number reads a number, which may turn out not to be finite.
func (r *reader) number(n node, key string) Number {
	if !r.is(n, key, numberKind) {
		return NonFinite()
	}
	var number Number
	if err := number.UnmarshalJSON([]byte(n.text)); err != nil {
		r.fail(n, key, "%s", visible(err.Error(), maxShown))
		return NonFinite()
	}
	return number
}

// part reads a finite number from 0 to 1.
func (r *reader) part(n node, key string) *metric.Value {
	value, ok := r.number(n, key).Value()
	if n.kind != numberKind {
		return nil
	}
	if !ok || !withinOne(value) {
		r.fail(n, key, "is %s; it must be from 0 to 1", visible(n.text, maxShown))
		return nil
	}
	return &value
}

// nonFiniteIn returns the key of the first number in a value that is not finite.
func nonFiniteIn(n node, key string) string {
	if n.kind == numberKind {
		if _, err := metric.ParseValue(n.text); errors.Is(err, metric.ErrNotFinite) {
			return key
		}
	}
	for _, f := range n.fields {
		if at := nonFiniteIn(f.value, join(key, f.name)); at != "" {
			return at
		}
	}
	for i, item := range n.items {
		if at := nonFiniteIn(item, fmt.Sprintf("%s[%d]", key, i)); at != "" {
			return at
		}
	}
	return ""
}

func (r *reader) truth(n node, key string) bool {
	return r.is(n, key, truthKind) && n.truth
}

func withinOne(v metric.Value) bool {
	return v.Sign() >= 0 && v.Cmp(metric.FromInt(1)) <= 0
}

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

func names[K ~string, V any](m map[K]V) string {
	var list []string
	for name := range m {
		list = append(list, string(name))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
