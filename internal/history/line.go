package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

var errNoEvent = errors.New(`it has no "event"`)

// ParseEvent reads one line of a ledger, which must stay as it is.
func ParseEvent(line []byte) (Event, error) {
	kind := kindOf(line)
	e, wrong := parseAs(kind, line)
	if wrong == nil && kind != "" && e.Header().Event == kind {
		return e, nil
	}
	// The guess was wrong, or the line is. What every event has says which: a field of
	// another kind is no error.
	e, err := parseAs("", line)
	if err != nil {
		return nil, cmp.Or(wrong, err)
	}
	if kind = e.Header().Event; kind == "" {
		return nil, errNoEvent
	}
	return parseAs(kind, line)
}

// parseAs reads a line as an event of a kind.
func parseAs(kind Kind, line []byte) (Event, error) {
	e := newEvent(kind)
	if err := json.Unmarshal(line, e); err != nil {
		return nil, err //nolint:wrapcheck // the caller names the line
	}
	e.Header().line = line
	return e, nil
}

// kindOf guesses the kind of a line: what stands after its first "event", which may be
// that of an object in it. A text cannot have it, since its quotes are escaped.
func kindOf(line []byte) Kind {
	_, rest, _ := bytes.Cut(line, []byte(`"event":"`))
	name, _, _ := bytes.Cut(rest, []byte(`"`))
	return Kind(name)
}

// Stamp returns a copy of an event that says of which run it is, and of when.
func Stamp(e Event, run string, at time.Time) Event {
	e = clone(e)
	h := e.Header()
	h.Run, h.Time = run, at
	return e
}

// clone copies an event, but not what it points to.
func clone(e Event) Event {
	again := reflect.New(reflect.TypeOf(e).Elem())
	again.Elem().Set(reflect.ValueOf(e).Elem())
	return again.Interface().(Event) //nolint:forcetypeassert,errcheck // it is of e's type
}

// Line renders an event as one line of JSON, with its newline. Of an event that
// was read, fields that this version does not know stay in their places.
func Line(e Event) ([]byte, error) {
	text, err := render(e)
	if read := e.Header().line; err == nil && read != nil {
		text, err = keepUnknown(read, text)
	}
	if err != nil {
		return nil, fmt.Errorf("render %s event: %w", e.kind(), err)
	}
	return append(text, '\n'), nil
}

// render writes the fields that this version knows.
func render(e Event) ([]byte, error) {
	e = clone(e)
	h := e.Header()
	h.Event, h.Time = e.kind(), inUTC(h.Time).Truncate(time.Millisecond)
	if h.Schema == 0 {
		h.Schema = Schema
	}
	return json.Marshal(e) //nolint:wrapcheck // the caller names the kind
}

// inUTC is a time in UTC, but for one of which only its own zone has a year that can be
// written.
func inUTC(at time.Time) time.Time {
	if utc := at.UTC(); utc.Year() >= 0 && utc.Year() <= 9999 {
		return utc
	}
	return at
}

// keepUnknown adds the unknown fields of a line that was read to the event as it
// is now.
func keepUnknown(read, now []byte) ([]byte, error) {
	e, err := ParseEvent(read)
	if err != nil {
		return nil, err
	}
	was, err := render(e)
	if err != nil || bytes.Equal(was, now) {
		return bytes.Clone(read), err
	}
	fields := fieldsOf(now)
	known := append(fieldsOf(was), fields...)
	at := 0
	for _, f := range fieldsOf(read) {
		if i := indexOf(fields, f.name); i >= 0 {
			at = i + 1
		} else if indexOf(known, f.name) < 0 {
			fields = slices.Insert(fields, at, f)
			at++
		}
	}
	return join(fields)
}

// field is one field of a JSON object.
type field struct {
	name  string
	value json.RawMessage
}

// fieldsOf are the fields of a valid object, in their order.
func fieldsOf(object []byte) []field {
	var fields []field
	in := json.NewDecoder(bytes.NewReader(object))
	_, err := in.Token()
	for err == nil && in.More() {
		var name json.Token
		var f field
		if name, err = in.Token(); err == nil {
			f.name, _ = name.(string)
			err = in.Decode(&f.value)
			fields = append(fields, f)
		}
	}
	return fields
}

// indexOf is the place of a field, which is read in whatever case it is written.
func indexOf(fields []field, name string) int {
	return slices.IndexFunc(fields, func(f field) bool { return strings.EqualFold(f.name, name) })
}

// join is the reverse of fieldsOf.
func join(fields []field) ([]byte, error) {
	var out bytes.Buffer
	for i, f := range fields {
		name, err := json.Marshal(f.name)
		if err != nil {
			return nil, err //nolint:wrapcheck // the caller names the kind
		}
		out.WriteString([]string{"{", ","}[min(i, 1)])
		out.Write(name)
		out.WriteByte(':')
		out.Write(f.value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
