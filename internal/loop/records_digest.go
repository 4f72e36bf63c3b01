package loop

import (
	"bytes"
	"slices"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop/proposal"
)

// recordsDigest identifies the three files of a program, except for the events that
// ApplyCommands may add while an iteration is under way and that change nothing
// of it: that a comment was answered.
func recordsDigest(files memory.Files) string {
	var essence []byte
	for line := range bytes.Lines(files.Ledger) {
		if !isConversation(line) {
			essence = append(essence, line...)
		}
	}
	return proposal.Digest(files.State, files.Results, essence)
}

// isConversation reports whether a line of the ledger is about comments alone.
func isConversation(line []byte) bool {
	e, err := history.ParseEvent(line)
	if err != nil {
		return false
	}
	switch e := e.(type) {
	case *history.Answered:
		return true
	case *history.Set:
		return slices.Contains([]string{history.IssueNumber, history.Author, history.CommandsUntil}, e.Key)
	default:
		return false
	}
}
