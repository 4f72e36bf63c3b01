package suite

import (
	"encoding/json"
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

// File is what is read of a file beside its values.
type File struct {
	name string
	data []byte
	// decoder reads the tree, of which there are so many nodes by now.
	decoder  *json.Decoder
	nodes    int
	problems []error
	// Stray is the first key that is not known and has a number that is not
	// finite.
	Stray string
	// NotFinite is the key of the first number, read into a field, that is not finite. Whoever reads
	// several parts clears it before each.
	NotFinite string
}

// Err is all that is wrong with the file, one line each: "file:line: key: message".
func (f *File) Err() error { return errors.Join(f.problems...) }

// fail notes a problem at a line, 0 for the file as a whole, and at a key, "" for none. Of those
// beyond the bound it says that there are some.
func (f *File) fail(line int, key, format string, args ...any) {
	if len(f.problems) > maxProblems {
		return
	}
	if len(f.problems) == maxProblems {
		line, key, format, args = 0, "", "has more than %d faults; correct these first", []any{maxProblems}
	}
	text := plain.Short(f.name, MaxPath)
	if line > 0 {
		text += fmt.Sprintf(":%d", line)
	}
	if key != "" {
		text += ": " + plain.Short(key, MaxShown)
	}
	f.problems = append(f.problems, fmt.Errorf("%s: %s", text, fmt.Sprintf(format, args...)))
}

// Read parses a file; ok is false when it cannot be read at all, or has another type of
// value than it must.
func Read(file string, data []byte, most int, types ...Type) (root Node, ok bool) {
	f := &File{name: file}
	if len(data) > most {
		f.fail(0, "", "has more than %d KiB", most/1024)
		return Node{File: f}, false
	}
	root, line, err := f.parse(data)
	if err != nil {
		f.problems = nil // nothing else is certain of what is no JSON
		f.fail(line, "", "%v", err)
		return Node{File: f}, false
	}
	return root, slices.Contains(types, root.Type) || root.Is(types[0])
}

// walk visits a value and all that is in it.
func (n Node) walk(visit func(n Node)) {
	visit(n)
	for _, f := range n.Fields {
		f.Value.walk(visit)
	}
	for _, item := range n.Items {
		item.walk(visit)
	}
}

// Below is a place for a key of an object, there or not.
func (n Node) Below(name string) Node {
	return Node{File: n.File, above: &n, field: name, at: n.at}
}

// Fail notes a problem at a value.
func (n Node) Fail(format string, args ...any) {
	if len(n.problems) <= maxProblems { // else enough is said, and a line is looked for in the whole file
		n.fail(n.line(n.at), n.Key(), format, args...)
	}
}

// Is reports whether a value has the type that it must have.
func (n Node) Is(want Type) bool {
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
	n.Fail("must be %s, not %s", want, is)
	return false
}

// Keys has what reads the value of each key that an object may have.
type Keys map[string]func(n Node)

// Into reads a key's value into a place.
func Into[T any](to *T, read func(n Node) T) func(Node) {
	return func(n Node) { *to = read(n) }
}

// Object takes an object apart: every key that is in take goes there, the
// required ones must be there, and any other is a problem when strict.
func (n Node) Object(take Keys, strict bool, required ...string) {
	if !n.Is(Object) {
		return
	}
	for _, f := range n.Fields {
		switch read, known := take[f.Name]; {
		case known:
			read(f.Value)
		case strict:
			f.Value.Fail("is no key that is known here; there are %s", Names(take))
		default:
			f.Value.walk(Node.notFinite)
		}
	}
	for _, name := range required {
		if !n.Has(name) {
			n.Below(name).Fail("is missing")
		}
	}
}

// List calls read for every item.
func (n Node) List(most int, read func(n Node)) {
	if !n.Is(List) {
		return
	}
	if len(n.Items) > most {
		n.Fail("has %d entries; %d is the most", len(n.Items), most)
		return
	}
	for _, item := range n.Items {
		read(item)
	}
}

// Filled reads a text that is not blank, of at most that many bytes.
func (n Node) Filled(most int) string {
	switch {
	case !n.Is(Text):
	case strings.TrimSpace(n.Text) == "":
		n.Fail("is empty")
	case len(n.Text) > most:
		n.Fail("has more than %d bytes", most)
	case strings.ContainsRune(n.Text, 0):
		n.Fail("has a NUL character in it")
	default:
		return n.Text
	}
	return ""
}

// Filled reads a text into a place, as that of a Node does.
func Filled(to *string, most int) func(Node) {
	return func(n Node) { *to = n.Filled(most) }
}

// Optional reads a text into a place that may be empty or null.
func Optional(to *string, most int) func(Node) {
	return func(n Node) {
		switch {
		case n.Type == Null || !n.Is(Text):
		case len(n.Text) > most:
			n.Fail("has more than %d bytes", most)
		default:
			*to = n.Text
		}
	}
}

// Number reads a number; ok is false, with a problem, for anything else, and, without one, for a
// number that is not finite.
func (n Node) Number() (value metric.Value, ok bool) {
	if !n.Is(Number) {
		return value, false
	}
	value, err := metric.ParseValue(n.Text)
	if err != nil && !errors.Is(err, metric.ErrNotFinite) {
		n.Fail("%s", plain.Short(err.Error(), MaxShown))
	}
	return value, err == nil
}

// Fraction reads a finite number from 0 to 1.
func (n Node) Fraction() *metric.Value {
	value, ok := n.Number()
	if n.Type != Number {
		return nil
	}
	if !ok || !WithinOne(value) {
		n.Fail("is %s; it must be from 0 to 1", plain.Short(n.Text, MaxShown))
		return nil
	}
	return &value
}

// notFinite notes a number that is not finite.
func (n Node) notFinite() {
	if n.Type == Number && n.Stray == "" {
		if _, err := metric.ParseValue(n.Text); errors.Is(err, metric.ErrNotFinite) {
			n.Stray = n.Key()
		}
	}
}

// Bool reads true or false; a value of another type is a problem, and false.
func (n Node) Bool() bool { return n.Is(Truth) && n.True }

// WithinOne reports whether a number is from 0 to 1.
func WithinOne(v metric.Value) bool {
	return v.Sign() >= 0 && v.Cmp(metric.FromInt(1)) <= 0
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

// What is quoted of hostile text, in characters.
const (
	MaxShown = 80
	MaxPath  = 300
)

// Quote shows a piece of hostile text in a message, with its line breaks and tabs as code has them.
func Quote(text string) string {
	text = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text)
	return `"` + plain.Clip(plain.Text(text), MaxShown) + `"`
}
