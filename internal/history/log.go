package history

import (
	"bytes"
	"fmt"

	"github.com/org/autoloop/internal/cure"
)

// Log is a ledger in memory. It keeps the bytes of every line that was there,
// also of events and fields that it does not know.
type Log struct {
	data []byte
	// Events are those of the open segment: all of them unless segments were sealed.
	Events []Event

	starts []int       // where in data the line of each event begins
	sealed *Checkpoint // what the sealed segments add up to; nil without any
}

// Parse reads a ledger, or one segment of it without its head; empty data is an empty
// ledger. A line that is no JSON object with an "event" is an error that names the
// line: a record that cannot be read is never taken for one that is not there.
func Parse(data []byte) (*Log, error) { return parse(data, 0) }

// ParseOpen reads the events of one segment, whatever segments it goes on after.
func ParseOpen(segment []byte) (*Log, error) {
	h, body, err := splitHead(segment)
	switch {
	case err != nil:
		return nil, fmt.Errorf("ledger line 1: %w", err)
	case h == nil:
		return Parse(segment)
	default:
		return parse(body, 1)
	}
}

// parse is Parse for data that begins after as many lines of its segment.
func parse(data []byte, before int) (*Log, error) {
	log := &Log{data: bytes.Clone(data)}
	number, at := before, 0
	for raw := range bytes.Lines(log.data) {
		number++
		start := at
		at += len(raw)
		line := bytes.TrimSpace(raw)
		if len(line) == 0 {
			continue
		}
		event, err := ParseEvent(line)
		if err != nil {
			return nil, cure.Unreadable.Errorf("ledger line %d: %w", number, err)
		}
		log.Events, log.starts = append(log.Events, event), append(log.starts, start)
	}
	return log, nil
}

// Open reads the open segment of a ledger. The checkpoint is what its sealed
// segments add up to, or nil. ErrNoCheckpoint is the error when it
// is missing, or not that of these segments.
func Open(checkpoint *Checkpoint, data []byte) (*Log, error) {
	h, body, err := splitHead(data)
	switch {
	case err != nil:
		return nil, fmt.Errorf("ledger line 1: %w", err)
	case h == nil:
		return Parse(data)
	case checkpoint == nil || checkpoint.CheckOpen(data) != nil:
		return nil, ErrNoCheckpoint
	}
	log, err := parse(body, 1)
	if err != nil {
		return nil, err
	}
	shift := len(data) - len(body)
	for i := range log.starts {
		log.starts[i] += shift
	}
	log.data, log.sealed = bytes.Clone(data), checkpoint
	return log, nil
}

// Append adds events at the end.
func (l *Log) Append(events ...Event) error {
	for _, event := range events {
		line, err := Line(event)
		if err != nil {
			return err
		}
		if len(l.data) > 0 && l.data[len(l.data)-1] != '\n' {
			l.data = append(l.data, '\n')
		}
		l.starts = append(l.starts, len(l.data))
		l.data = append(l.data, line...)
		l.Events = append(l.Events, event)
	}
	return nil
}

// Bytes returns the open segment as it is written.
func (l *Log) Bytes() []byte { return l.data }

// Checkpoint is what the sealed segments add up to; the zero Checkpoint without any.
func (l *Log) Checkpoint() *Checkpoint {
	if l.sealed == nil {
		return &Checkpoint{}
	}
	return l.sealed
}

// start is what the ledger adds up to before its open segment.
func (l *Log) start() (Summary, Standing) {
	if l.sealed == nil {
		return Summary{Settings: map[string]string{}}, Standing{}
	}
	at := l.sealed.clone()
	return at.summary, at.standing
}

// Summary is what the whole ledger adds up to; of what is sealed see Checkpoint.
func (l *Log) Summary() Summary {
	summary, _ := l.start()
	for _, e := range l.Events {
		summary.Add(e)
	}
	return summary
}

// Standing is where the newest iteration stands.
func (l *Log) Standing() Standing {
	standing := l.Checkpoint().standing // which after does not change
	for _, e := range l.Events {
		standing = standing.after(e)
	}
	return standing
}
