package loop

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/prompt"
)

// handsBack reports whether the agent may write notes: not where the
// repository has a file of that name.
func handsBack(at position) bool { return at.tracked(prompt.NotesFile) == nil }

// takeNotes reads what the agent handed back, without secrets, and removes it from the tree so
// that it is no part of the change. What is no regular file stays, for the
// guard to refuse.
func takeNotes(at position, dir string, masker process.Masker) (history.Notes, error) {
	if !handsBack(at) {
		return history.Notes{}, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return history.Notes{}, fmt.Errorf("open the tree: %w", err)
	}
	defer func() { _ = root.Close() }()
	info, err := root.Lstat(prompt.NotesFile)
	if err != nil || !info.Mode().IsRegular() {
		return history.Notes{}, nil
	}
	file, err := root.Open(prompt.NotesFile)
	if err != nil {
		return history.Notes{}, nil
	}
	text, _ := io.ReadAll(io.LimitReader(file, 2*prompt.MaxNotes)) // Only so much is parsed, and no secret is cut in two.
	_ = file.Close()
	if err := root.Remove(prompt.NotesFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return history.Notes{}, fmt.Errorf("remove the agent's notes: %w", err)
	}
	return history.Notes(prompt.ParseNotes(masker.Bytes(text))), nil
}

// enterNotes adds the notes of an iteration to the sections that people read.
func (b *records) enterNotes(iteration int, notes prompt.Notes) {
	b.doc.Learn(state.Lessons, iteration, notes.Lessons)
	b.doc.Learn(state.Foreclosed, iteration, notes.Foreclosed)
	b.doc.Learn(state.Future, iteration, notes.Ideas)
}
