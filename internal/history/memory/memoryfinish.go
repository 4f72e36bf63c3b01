package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/git"
)

// movesTrailer is the trailer of a commit of the records with which another
// branch moves: "<ref> <old> <new>", where a missing commit is "none".
//
// Git moves several local refs one after the other. A run that is killed in
// between has moved the records, which come first, and not the branch; the trailer
// tells the next run to finish that.
const movesTrailer = "Autoloop-Moves"

const noCommit = "none"

// programRefs is where the branches are that a trailer may speak of: what is
// written in the records moves no branch of the user's.
const programRefs = "refs/heads/autoloop/"

// message has one line of Message: what else was in it could be taken for a trailer.
func (w *writing) message() string {
	message, _, _ := strings.Cut(strings.TrimSpace(w.Message), "\n")
	message += "\n"
	if w.Branch == nil || w.Branch.Old == git.Any {
		return message
	}
	return fmt.Sprintf("%s\n%s: %s %s %s\n", message, movesTrailer, w.Branch.Ref, cmp.Or(w.Branch.Old, noCommit), cmp.Or(w.Branch.New, noCommit))
}

// unfinished returns the move that the newest commit of the records announces
// when it did not happen, else nil. A remote elsewhere moves all branches in one
// step.
func (m *Memory) unfinished(ctx context.Context, memory stand) (*git.RefUpdate, error) {
	if m.Remote != "" {
		return m.unfinishedThere(ctx, memory)
	}
	if memory.here == "" || memory.here != memory.head {
		return nil, nil
	}
	announced, err := m.announced(ctx, memory.here)
	if err != nil || announced == nil {
		return nil, err
	}
	at, err := m.Repo.ListRefs(ctx, announced.Ref)
	if err != nil {
		return nil, err
	}
	now := ""
	if i := slices.IndexFunc(at, func(ref git.Ref) bool { return ref.Name == announced.Ref }); i >= 0 {
		now = at[i].ID
	}
	if now != announced.Old || announced.New == announced.Old {
		return nil, nil
	}
	if announced.New != "" {
		if _, exists, err := m.Repo.Resolve(ctx, announced.New); err != nil || !exists {
			return nil, err
		}
	}
	// The log is written before the ref. When it goes on after the move, the
	// move happened, and somebody took it back.
	log, err := m.Repo.RefLog(ctx, announced.Ref)
	if err != nil || len(log) > 0 && log[0] != announced.New && slices.Contains(log, announced.New) {
		return nil, err
	}
	return announced, nil
}

// announced reads the trailer of a commit of the records.
func (m *Memory) announced(ctx context.Context, commit string) (*git.RefUpdate, error) {
	c, err := m.Repo.ReadCommit(ctx, commit)
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(c.Trailers()[movesTrailer])
	if len(fields) != 3 || !strings.HasPrefix(fields[0], programRefs) {
		return nil, nil
	}
	for i := range fields {
		if fields[i] == noCommit {
			fields[i] = ""
		}
	}
	return &git.RefUpdate{Ref: fields[0], Old: fields[1], New: fields[2]}, nil
}

// finish makes up for the move, and lets the update begin anew.
func (w *writing) finish(ctx context.Context, move git.RefUpdate) error {
	if err := w.checkCheckouts(ctx, move.Ref); err != nil {
		return err
	}
	if w.Remote != "" {
		return w.moveThere(ctx, move)
	}
	err := w.Repo.UpdateRefs(ctx, "autoloop: finish an interrupted update", move)
	if err == nil || errors.Is(err, git.ErrStale) {
		return fmt.Errorf("%w: %s", git.ErrStale, move.Ref)
	}
	return fmt.Errorf("finish an interrupted update: %w", err)
}
