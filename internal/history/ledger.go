package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Log is a ledger in memory: its iterations, and the events of all of them.
type Log struct {
	// Events are those of all iterations, in order.
	Events []Event

	iterations []*Iteration
}

// Iteration is one file of a ledger: what happened from the start of an iteration until
// the next began. Iteration 0 has what came before the first.
type Iteration struct {
	Number int
	Events []Event

	lines [][]byte
}

// checkSchema refuses what a newer version of Autoloop wrote: what this one would make of
// it could be wrong.
func checkSchema(schema int) error {
	if schema > Schema {
		return fmt.Errorf("it has schema %d and this version of Autoloop knows %d: update Autoloop", schema, Schema)
	}
	return nil
}

// NewLog is the ledger of these iterations. An error says that they are not in order.
func NewLog(iterations ...*Iteration) (*Log, error) {
	log := &Log{}
	for i, it := range iterations {
		if i > 0 && it.Number <= iterations[i-1].Number {
			return nil, fmt.Errorf("iteration %d comes after iteration %d", it.Number, iterations[i-1].Number)
		}
		log.Events = append(log.Events, it.Events...)
	}
	log.iterations = iterations
	return log, nil
}

// ParseIteration reads a file of the ledger. What cannot be read is an error: it is never
// taken for something that is not there.
func ParseIteration(text []byte) (*Iteration, error) {
	var file struct {
		Schema    int               `json:"schema"`
		Iteration *int              `json:"iteration"`
		Events    []json.RawMessage `json:"events"`
	}
	err := json.Unmarshal(text, &file)
	if err = cmp.Or(err, checkSchema(file.Schema)); err != nil {
		return nil, err //nolint:wrapcheck // the caller names the file
	}
	if file.Iteration == nil || *file.Iteration < 0 {
		return nil, errors.New(`it has no "iteration"`)
	}
	it := &Iteration{Number: *file.Iteration}
	for i, line := range file.Events {
		event, err := ParseEvent(line)
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
		it.Events, it.lines = append(it.Events, event), append(it.lines, line)
	}
	return it, nil
}

// Text is the file of an iteration: JSON with one event a line.
func (it *Iteration) Text() []byte {
	text := fmt.Appendf(nil, `{"schema":%d,"iteration":%d,"events":[`+"\n", Schema, it.Number)
	text = append(text, bytes.Join(it.lines, []byte(",\n"))...)
	return append(text, "\n]}\n"...)
}

// Extends reports whether one file of an iteration has all that an earlier one has, as it was.
func Extends(now, before []byte) bool {
	kept, _ := bytes.CutSuffix(before, []byte("\n]}\n"))
	return bytes.HasPrefix(now, kept)
}

// Iterations are the files of the ledger, in order.
func (l *Log) Iterations() []*Iteration {
	if l == nil {
		return nil
	}
	return l.iterations
}

// Copy is the ledger, to be added to: l stays as it is.
func (l *Log) Copy() *Log {
	if l == nil {
		return &Log{}
	}
	return &Log{Events: slices.Clip(l.Events), iterations: slices.Clone(l.iterations)}
}

// Append adds events at the end. The start of an iteration begins a file, and so does
// what is recorded first.
func (l *Log) Append(events ...Event) error {
	for _, event := range events {
		line, err := render(event)
		if err != nil {
			return err
		}
		last := len(l.iterations) - 1
		if last < 0 {
			l.iterations, last = []*Iteration{{}}, 0
		}
		if started, is := event.(*Started); is && started.Iteration > l.iterations[last].Number {
			l.iterations, last = append(l.iterations, &Iteration{Number: started.Iteration}), last+1
		}
		it := *l.iterations[last]
		it.Events, it.lines = append(slices.Clip(it.Events), event), append(slices.Clip(it.lines), line)
		l.iterations[last] = &it
		l.Events = append(l.Events, event)
	}
	return nil
}

// Summary is what the ledger adds up to.
func (l *Log) Summary() Summary { return Replay(l.Events) }

// ParseEvent reads one event.
func ParseEvent(line []byte) (Event, error) {
	var head Head
	err := json.Unmarshal(line, &head)
	if err = cmp.Or(err, checkSchema(head.Schema)); err != nil {
		return nil, err //nolint:wrapcheck // the caller names the line
	}
	known := kinds[head.Event]
	if known == nil {
		return nil, fmt.Errorf("its \"event\" is %.40q, which this version of Autoloop does not know", head.Event)
	}
	e := clone(known)
	if err := json.Unmarshal(line, e); err != nil {
		return nil, err //nolint:wrapcheck // the caller names the line
	}
	return e, nil
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

// Line renders an event as one line of JSON, with its newline.
func Line(e Event) ([]byte, error) {
	text, err := render(e)
	return append(text, '\n'), err
}

func render(e Event) ([]byte, error) {
	e = clone(e)
	h := e.Header()
	h.Schema, h.Event, h.Time = Schema, KindOf(e), h.Time.UTC().Truncate(time.Millisecond)
	text, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("render %s event: %w", KindOf(e), err)
	}
	return text, nil
}
