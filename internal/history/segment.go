package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// A ledger is stored as sealed segments, which never change again, and the open
// segment, to which events are added. A ledger that is still small is its open
// segment alone. Every segment but the first begins with a head, which names the
// segment before it, so that their order follows from what they are.

const (
	// segmentSchema is the version written into a head.
	segmentSchema = 2
	// segmentSize is how many bytes are worth a segment of their own.
	segmentSize = 64 << 10
	// openDecisions is how many of the latest decisions stay in the open segment: who
	// works on the next iteration looks at their events.
	openDecisions = 8
)

// headKind is the `event` of a head.
const headKind = "segment"

// opening is the first line of a segment that goes on after sealed ones.
type opening struct {
	Schema int  `json:"schema"`
	Kind   Kind `json:"event"`
	// Note stands where events have their time: a version that knows nothing of
	// segments cannot read it, and shows it in its error.
	Note string `json:"time"`
	// Segment is the number of this segment, from 1.
	Segment int `json:"segment"`
	// Lines is how many lines the segments before have, without their heads.
	Lines int `json:"lines"`
	// Before is the SHA-256 of the segment before, Numbers that of what Forget leaves
	// of it; "" when that is the same.
	Before  string `json:"before"`
	Numbers string `json:"numbers,omitempty"`
}

const headNote = "older lines of this ledger are in sealed segments: it takes a newer version of Autoloop to read them"

func (h opening) line() []byte {
	h.Schema, h.Kind, h.Note = segmentSchema, headKind, headNote
	text, _ := json.Marshal(h) // numbers and texts
	return append(text, '\n')
}

// ErrNoCheckpoint says that a segment goes on after others than those that the
// checkpoint is of: it has to be computed from the sealed segments.
var ErrNoCheckpoint = errors.New("the checkpoint is not that of the sealed segments")

// NewerError says that a newer version of Autoloop wrote a segment: what this one would
// make of it could be wrong.
type NewerError struct{ Schema int }

func (e *NewerError) Error() string {
	return fmt.Sprintf("it has schema %d and this version of Autoloop knows %d: update Autoloop", e.Schema, segmentSchema)
}

// splitHead takes the head off a segment; h is nil for data without a head.
func splitHead(data []byte) (h *opening, body []byte, err error) {
	line, rest, _ := bytes.Cut(data, []byte("\n"))
	if !bytes.Contains(line, []byte(headKind)) {
		return nil, data, nil
	}
	var found opening
	if json.Unmarshal(line, &found) != nil || found.Kind != headKind {
		return nil, data, nil //nolint:nilerr // such a line is an event, or none
	}
	if found.Schema > segmentSchema {
		return &found, nil, &NewerError{Schema: found.Schema}
	}
	return &found, rest, nil
}

// Body is a segment without its head.
func Body(segment []byte) []byte {
	if _, body, err := splitHead(segment); err == nil {
		return body
	}
	return segment
}

// Sealed reports whether the open segment of a ledger goes on after sealed ones.
func Sealed(open []byte) bool {
	h, _, err := splitHead(open)
	return err != nil || h != nil
}

// Sealing is what sealing makes of a ledger.
type Sealing struct {
	// Segments are those that are sealed now, First is the number of the first of
	// them.
	Segments [][]byte
	First    int
	// Open is the open segment from now on.
	Open []byte
	// Checkpoint is what all sealed segments add up to.
	Checkpoint *Checkpoint
}

// Seal moves the oldest events of the open segment into sealed segments; nil when
// there are too few of them. The events of a run stay together, and so does an
// iteration that waits for CI, unless it waits for very many runs.
func (l *Log) Seal() (*Sealing, error) {
	cuts := l.cuts()
	if len(cuts) == 0 {
		return nil, nil //nolint:nilnil // Nothing to seal is an answer.
	}
	at := l.Checkpoint()
	s := &Sealing{First: at.Segments + 1}
	start := 0
	for _, cut := range cuts {
		segment := bytes.Clone(l.data[start:cut])
		if start > 0 {
			segment = append(at.head().line(), segment...)
		}
		next, err := at.Extend(segment)
		if err != nil {
			return nil, err
		}
		s.Segments = append(s.Segments, segment)
		at, start = next, cut
	}
	s.Checkpoint = at
	s.Open = append(at.head().line(), l.data[start:]...)
	return s, nil
}

// cuts are the places in data at which the open segment is cut, in order.
func (l *Log) cuts() []int {
	if len(l.data) < segmentSize {
		return nil
	}
	decided := 0
	for i := range l.Events {
		if _, is := l.Events[i].(*Decided); is {
			decided++
		}
	}
	summary, standing := l.start()
	var cuts []int
	start := 0
	for i, e := range l.Events {
		at := l.starts[i]
		switch e.(type) {
		case *Started:
			// An iteration that is put off or waits for CI for months has many runs after
			// the last decision.
			enough := decided >= openDecisions && standing.Waiting() == nil || decided == 0 && len(l.data)-at >= segmentSize
			if summary.Open == nil && enough && at-start >= segmentSize {
				cuts, start = append(cuts, at), at
			}
		case *Decided:
			decided--
		}
		summary.Add(e)
		standing = standing.after(e)
	}
	return cuts
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Before is how many segments were sealed before an open one.
func Before(open []byte) int {
	h, _, err := splitHead(open)
	if err != nil || h == nil {
		return 0
	}
	return max(h.Segment-1, 0)
}

// Begins reports whether a run begins in these lines of a ledger.
func Begins(lines []byte) bool {
	log, err := Parse(lines)
	return err == nil && slices.ContainsFunc(log.Events, func(e Event) bool { _, is := e.(*Started); return is })
}
