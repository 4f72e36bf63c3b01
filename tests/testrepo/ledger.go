package testrepo

import (
	"bytes"
	"fmt"

	"github.com/org/autoloop/internal/history"
)

// Ledger is the one of these events, one a line.
func Ledger(lines []byte) (*history.Log, error) {
	log, number := &history.Log{}, 0
	for line := range bytes.Lines(lines) {
		number++
		event, err := history.ParseEvent(bytes.TrimSpace(line))
		if err == nil {
			err = log.Append(event)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return log, nil
}
