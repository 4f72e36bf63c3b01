package history

import (
	"bytes"
	"fmt"
)

// Log is a ledger in memory. It keeps the bytes of every line that was there,
// also of events and fields that it does not know.
type Log struct {
	data   []byte
	Events []Event
}

// Parse reads a ledger; empty data is an empty ledger. A line that is no JSON
// object with an "event" is an error that names the line: a record that cannot
// be read is never taken for one that is not there.
func Parse(data []byte) (*Log, error) {
	log := &Log{data: bytes.Clone(data)}
	number := 0
	for line := range bytes.Lines(log.data) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		event, err := ParseEvent(line)
		if err != nil {
			return nil, fmt.Errorf("ledger line %d: %w", number, err)
		}
		log.Events = append(log.Events, event)
	}
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
		l.data = append(l.data, line...)
		l.Events = append(l.Events, event)
	}
	return nil
}

// Bytes returns the ledger as it is written.
func (l *Log) Bytes() []byte { return l.data }
