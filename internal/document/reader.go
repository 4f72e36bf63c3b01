package document

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

const maxProblems = 200

// Reader takes values out of a tree and collects everything that is wrong.
type Reader struct {
	file     string
	Problems Problems
	// stray is the first key that is not known and has a number that is not
	// finite.
	Stray string
}

// ReadObject parses a file whose value must be an object; ok is false when it
// cannot be read at all.
func ReadObject(file string, data []byte, most int) (r *Reader, root Node, ok bool) {
	r, root, ok = Read(file, data, most)
	return r, root, ok && r.Is(root, "", Object)
}

// Read is newReader for a file whose value may be of any type.
func Read(file string, data []byte, most int) (r *Reader, root Node, ok bool) {
	r = &Reader{file: file}
	if len(data) > most {
		r.Problems = Problems{{File: file, Message: fmt.Sprintf("has more than %d KiB", most/1024)}}
		return r, Node{}, false
	}
	root, line, err := parseNode(data)
	if err != nil {
		r.Problems = Problems{{File: file, Line: line, Message: err.Error()}}
		return r, Node{}, false
	}
	walk(root, "", func(n Node, key string) {
		seen := map[string]bool{}
		for _, f := range n.Fields {
			if seen[f.Name] {
				r.Fail(f.Value, Join(key, f.Name), "is there twice; remove one")
			}
			seen[f.Name] = true
		}
	})
	return r, root, true
}

// walk visits a value and all that is in it, with their keys.
func walk(n Node, key string, visit func(n Node, key string)) {
	visit(n, key)
	for _, f := range n.Fields {
		walk(f.Value, Join(key, f.Name), visit)
	}
	for i, item := range n.Items {
		walk(item, fmt.Sprintf("%s[%d]", key, i), visit)
	}
}

// Fail notes a problem at a value, whose key is named.
func (r *Reader) Fail(n Node, key, format string, args ...any) {
	r.Problems = r.Problems.With(Problem{File: r.file, Line: n.Line, Key: key, Message: fmt.Sprintf(format, args...)})
}

// Is reports whether a value has the type that it must have.
func (r *Reader) Is(n Node, key string, want Type) bool {
	if n.Type == want {
		return true
	}
	is := string(n.Type)
	switch n.Type {
	case Text:
		is = "the text " + Quote(n.Text)
	case Number:
		is = "the number " + plain.Short(n.Text, MaxShown)
	case Object, List, Truth, Null:
	}
	r.Fail(n, key, "must be %s, not %s", want, is)
	return false
}

// Keys has what reads the value of each key that an object may have.
type Keys map[string]func(n Node, key string)

// Into reads a key's value into a place.
func Into[T any](to *T, read func(n Node, key string) T) func(Node, string) {
	return func(n Node, key string) { *to = read(n, key) }
}

// Of picks the keys that are named, of which those after "|" may be left out.
func (all Keys) Of(names string) (picked Keys, required []string) {
	must, may, _ := strings.Cut(names, "|")
	picked, required = Keys{}, strings.Fields(must)
	for _, name := range append(strings.Fields(may), required...) {
		picked[name] = all[name]
	}
	return picked, required
}

// Object takes an object apart: every key that is in take goes there, the
// required ones must be there, and any other is a problem when strict.
func (r *Reader) Object(n Node, key string, take Keys, strict bool, required ...string) {
	if !r.Is(n, key, Object) {
		return
	}
	var found []string
	for _, f := range n.Fields {
		at := Join(key, f.Name)
		if read, known := take[f.Name]; known {
			found = append(found, f.Name)
			read(f.Value, at)
		} else if strict {
			r.Fail(f.Value, at, "is no key that is known here; there are %s", Names(take))
		} else {
			walk(f.Value, at, r.notFinite)
		}
	}
	for _, name := range required {
		if !slices.Contains(found, name) {
			r.Fail(n, Join(key, name), "is missing")
		}
	}
}

// List calls read for every item.
func (r *Reader) List(n Node, key string, most int, read func(n Node, key string)) {
	if !r.Is(n, key, List) {
		return
	}
	if len(n.Items) > most {
		r.Fail(n, key, "has %d entries; %d is the most", len(n.Items), most)
		return
	}
	for i, item := range n.Items {
		read(item, fmt.Sprintf("%s[%d]", key, i))
	}
}

// Text reads a text that is not blank, of at most that many bytes.
func (r *Reader) Text(n Node, key string, most int) string {
	switch {
	case !r.Is(n, key, Text):
	case strings.TrimSpace(n.Text) == "":
		r.Fail(n, key, "is empty")
	case len(n.Text) > most:
		r.Fail(n, key, "has more than %d bytes", most)
	case strings.ContainsRune(n.Text, 0):
		r.Fail(n, key, "has a NUL character in it")
	default:
		return n.Text
	}
	return ""
}

// TextInto reads a text into a place, as Text does.
func (r *Reader) TextInto(to *string, most int) func(Node, string) {
	return func(n Node, key string) { *to = r.Text(n, key, most) }
}

// OptionalInto reads a text into a place that may be empty or null.
func (r *Reader) OptionalInto(to *string, most int) func(Node, string) {
	return func(n Node, key string) {
		switch {
		case n.Type == Null || !r.Is(n, key, Text):
		case len(n.Text) > most:
			r.Fail(n, key, "has more than %d bytes", most)
		default:
			*to = n.Text
		}
	}
}

// Number reads a number; ok is false, with a problem, for anything else, and, without one, for a
// number that is not finite.
func (r *Reader) Number(n Node, key string) (value metric.Value, ok bool) {
	if !r.Is(n, key, Number) {
		return value, false
	}
	value, err := metric.ParseValue(n.Text)
	if err != nil && !errors.Is(err, metric.ErrNotFinite) {
		r.Fail(n, key, "%s", plain.Short(err.Error(), MaxShown))
	}
	return value, err == nil
}

// Fraction reads a finite number from 0 to 1.
func (r *Reader) Fraction(n Node, key string) *metric.Value {
	value, ok := r.Number(n, key)
	if n.Type != Number {
		return nil
	}
	if !ok || !WithinOne(value) {
		r.Fail(n, key, "is %s; it must be from 0 to 1", plain.Short(n.Text, MaxShown))
		return nil
	}
	return &value
}

// notFinite notes a number that is not finite.
func (r *Reader) notFinite(n Node, key string) {
	if n.Type == Number && r.Stray == "" {
		if _, err := metric.ParseValue(n.Text); errors.Is(err, metric.ErrNotFinite) {
			r.Stray = key
		}
	}
}

// Truth reads true or false; a value of another type is a problem, and false.
func (r *Reader) Truth(n Node, key string) bool {
	return r.Is(n, key, Truth) && n.Truth
}

// WithinOne reports whether a number is from 0 to 1.
func WithinOne(v metric.Value) bool {
	return v.Sign() >= 0 && v.Cmp(metric.FromInt(1)) <= 0
}

// Join is the path of a key below another; the outermost key is "".
func Join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// Names lists the keys of a map in order, for a message.
func Names[K ~string, V any](m map[K]V) string {
	var list []string
	for name := range m {
		list = append(list, string(name))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// NameForm is what a name that becomes part of a path looks like.
var NameForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// Inside resolves a path with slashes against a directory of a tree; ok is
// false when it leads out of the tree or is no plain relative path.
func Inside(dir, text string) (clean string, ok bool) {
	if path.IsAbs(text) || strings.ContainsAny(text, "\\:\x00") {
		return "", false
	}
	clean = path.Join(dir, text)
	return clean, clean != ".." && !strings.HasPrefix(clean, "../")
}
