package loop

import (
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
	for _, it := range files.Ledger.Iterations() {
		for _, e := range it.Events {
			set, is := e.(*history.Set)
			about := is && slices.Contains([]string{history.IssueNumber, history.Author, history.CommandsUntil}, set.Key)
			if _, answered := e.(*history.Answered); answered || about { // about comments alone
				continue
			}
			if line, err := history.Line(e); err == nil {
				essence = append(essence, line...)
			}
		}
	}
	return proposal.Digest(files.State, files.Results, essence)
}
