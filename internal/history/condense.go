package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Condense is what is kept at hand of a segment: its events without what was measured
// for them and what was proposed in them. What they add up to differs from what the
// segment does only in such details.
func Condense(segment []byte) ([]byte, error) {
	var out bytes.Buffer
	for line := range bytes.Lines(Body(segment)) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		short, err := condenseLine(line)
		if err != nil {
			return nil, err
		}
		if short != nil {
			out.Write(append(short, '\n'))
		}
	}
	return out.Bytes(), nil
}

// left out of every condensed event, and besides of one that measured.
var (
	longFields = []string{
		"lease", "case_samples", "evaluator_writes", "output", "patch", forgotten, "changed", "lessons", "foreclosed", "ideas", "rule", "seed",
	}
	measuredFields = []string{"samples", "guardrail_samples", "numbers"}
)

// condenseLine is one event condensed, nil when it is left out.
func condenseLine(line []byte) ([]byte, error) {
	var event struct {
		Kind  Kind   `json:"event"`
		Role  Role   `json:"role"`
		Stage string `json:"stage"`
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return nil, fmt.Errorf("condense a segment: %w", err)
	}
	drop := longFields
	switch event.Kind {
	case (*Pushed)(nil).kind():
		return nil, nil
	case (*Measured)(nil).kind():
		if event.Role == Candidate || event.Stage != "" {
			return nil, nil
		}
		drop = slices.Concat(longFields, measuredFields)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return nil, fmt.Errorf("condense a segment: %w", err)
	}
	for _, name := range drop {
		delete(fields, name)
	}
	short, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("condense a segment: %w", err)
	}
	return short, nil
}
