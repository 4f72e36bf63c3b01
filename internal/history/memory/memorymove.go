package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/git"
)

func (w *writing) move(ctx context.Context, stands []stand) error {
	if w.Remote == "" {
		updates := w.updates(stands, func(s stand) string { return s.here })
		return w.Repo.UpdateRefs(ctx, w.reason(),
			append(updates, git.RefUpdate{Ref: LastSeen, New: w.written, Old: git.Any})...)
	}
	pushed := w.Repo.Remote(w.Remote).Push(ctx, w.updates(stands, func(s stand) string { return s.there })...)
	if errors.Is(pushed, git.ErrRejected) {
		return pushed
	}
	if pushed != nil { // the refs may have moved before the connection broke: the next attempt looks
		w.doubtful = append(w.doubtful, w.written)
		return &transportError{pushed}
	}
	return w.follow(ctx, stands)
}

func (w *writing) reason() string { return "autoloop: " + w.Message }

// updates moves each branch from the value that from gives.
func (w *writing) updates(stands []stand, from func(stand) string) []git.RefUpdate {
	updates := []git.RefUpdate{{Ref: memoryRef, New: w.written, Old: from(stands[0])}}
	if w.Branch != nil {
		updates = append(updates, git.RefUpdate{Ref: w.Branch.Ref, New: w.Branch.New, Old: from(stands[1])})
	}
	return updates
}

// follow brings the local branches, and what was seen of the remote's, up to
// what was pushed. A local branch that another run has moved in the meantime is
// left alone: the remote has everything, and the next update brings it here.
func (w *writing) follow(ctx context.Context, stands []stand) error {
	updates := w.updates(stands, func(s stand) string { return s.here })
	for _, u := range updates {
		updates = append(updates, git.RefUpdate{Ref: w.seen(u.Ref), New: u.New, Old: git.Any})
	}
	updates = append(updates, git.RefUpdate{Ref: LastSeen, New: w.written, Old: git.Any})
	err := w.Repo.UpdateRefs(ctx, w.reason(), updates...)
	if err == nil || errors.Is(err, git.ErrStale) || errors.Is(err, git.ErrLocked) {
		return nil
	}
	return fmt.Errorf("the records are on %s, but the branches here did not follow: %w", w.Remote, err)
}

// programRefs is where the branches of programs are.
const programRefs = "refs/heads/autoloop/"

// unfinished is the move of a program's branch that its newest record says and that did
// not happen, else nil. Git moves several local refs one after the other: a run that is
// killed in between has moved the records, which come first. A remote moves all in one step.
func (m *Memory) unfinished(ctx context.Context, memory, branch stand) (*git.RefUpdate, error) {
	name, is := strings.CutPrefix(branch.ref, programRefs)
	if m.Remote != "" || !is || memory.here == "" || memory.here != memory.head {
		return nil, nil //nolint:nilnil // Nothing unfinished is an answer.
	}
	now, err := m.place(ctx, memory.here, name)
	if err != nil || now.commit == "" || now.commit == branch.here || !now.kept && branch.here == "" {
		return nil, err
	}
	newest, err := m.Repo.ReadCommit(ctx, memory.here)
	if err != nil || len(newest.Parents) == 0 {
		return nil, err
	}
	before, err := m.place(ctx, newest.Parents[0], name)
	if err != nil || now == before || before.commit != branch.here && (branch.here != "" || before.kept) {
		return nil, err
	}
	if _, exists, err := m.Repo.Resolve(ctx, now.commit); err != nil || !exists {
		return nil, err
	}
	return &git.RefUpdate{Ref: branch.ref, Old: branch.here, New: now.commit}, nil
}

// recordedPlace is where records say that a program's branch is. Until something is kept there may
// be no branch.
type recordedPlace struct {
	commit string
	kept   bool
}

func (m *Memory) place(ctx context.Context, head, name string) (recordedPlace, error) {
	files, err := m.At(ctx, head, name)
	if err != nil || files.Ledger == nil {
		return recordedPlace{}, err
	}
	summary := files.Ledger.Summary()
	return recordedPlace{summary.Head(), summary.Head() != summary.Base}, nil
}

// finish makes up for a move, and lets the update begin anew.
func (w *writing) finish(ctx context.Context, move git.RefUpdate) error {
	err := w.Repo.UpdateRefs(ctx, "autoloop: finish an interrupted update", move)
	if err == nil || errors.Is(err, git.ErrStale) {
		return fmt.Errorf("%w: %s", git.ErrStale, move.Ref)
	}
	return fmt.Errorf("finish an interrupted update: %w", err)
}
