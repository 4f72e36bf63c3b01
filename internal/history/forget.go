package history

import (
	"bytes"
	"encoding/json"
)

// forgotten is the field of a line that says what was taken out of it, by field the
// number of bytes.
const forgotten = "forgotten"

// Forget is a segment without the patches and the evaluations' output of candidates
// that were dropped: of those only the numbers stay. Each line says what is gone. All
// lines stay in their places, and they add up to the same but for what the candidate
// printed that was measured last.
func Forget(segment []byte) []byte {
	log, err := ParseOpen(segment)
	if err != nil {
		return segment
	}
	kept := map[Ancestor]bool{}
	for _, e := range log.Events {
		if e, is := e.(*Decided); is {
			kept[Ancestor{e.Iteration, e.Proposal}] = e.Outcome == Accepted || e.Outcome == PendingCI
		}
	}
	var out bytes.Buffer
	head := segment[:len(segment)-len(Body(segment))]
	out.Write(head)
	for line := range bytes.Lines(Body(segment)) {
		out.Write(forgetLine(line, kept))
	}
	return out.Bytes()
}

// forgetLine is one line without its details, unless they are of a kept candidate.
func forgetLine(line []byte, kept map[Ancestor]bool) []byte {
	var name string
	switch kindOf(line[:min(len(line), 40)]) { // other lines were never shortened
	case (*Measured)(nil).kind():
		name = "output"
	case (*Proposed)(nil).kind():
		name = "patch"
	default:
		return line
	}
	if !bytes.Contains(line, []byte(`"`+name+`"`)) {
		return line
	}
	var event struct {
		Iteration int  `json:"iteration"`
		Proposal  int  `json:"proposal"`
		Role      Role `json:"role"`
	}
	if json.Unmarshal(line, &event) != nil || kept[Ancestor{event.Iteration, event.Proposal}] || name == "output" && event.Role != Candidate {
		return line
	}
	fields := fieldsOf(line)
	at := indexOf(fields, name)
	if at < 0 {
		return line
	}
	var text string
	if json.Unmarshal(fields[at].value, &text) != nil || text == "" {
		return line
	}
	sizes, err := json.Marshal(map[string]int{name: len(text)})
	if err != nil {
		return line
	}
	fields[at] = field{forgotten, sizes}
	short, err := join(fields)
	if err != nil {
		return line
	}
	return append(short, '\n')
}

// numbersOf is the digest of what Forget leaves of a segment; "" when that is all.
func numbersOf(segment []byte) string {
	if short := Forget(segment); !bytes.Equal(short, segment) {
		return digest(short)
	}
	return ""
}

// Forgettable is what Forget leaves of a segment, when the head of the one after says
// that it may stand in its place; nil when it does not, as those of the version do that
// did not forget.
func Forgettable(segment, next []byte) []byte {
	short := Forget(segment)
	h, _, err := splitHead(next)
	if err != nil || h == nil || h.Numbers != digest(short) && (h.Numbers != "" || h.Before != digest(short)) {
		return nil
	}
	return short
}

// LastIteration is the highest number of an iteration that was measured or decided in a
// segment, 0 without one.
func LastIteration(segment []byte) int {
	last := 0
	if log, err := ParseOpen(segment); err == nil {
		for _, e := range log.Events {
			switch e.(type) {
			case *Decided, *Measured:
				last = max(last, e.Header().Iteration)
			}
		}
	}
	return last
}
