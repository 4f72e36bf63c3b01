package memory

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/autoloop/internal/git"
)

func (w *writing) move(ctx context.Context, stands []stand) error {
	if w.Remote == "" {
		return w.Repo.UpdateRefs(ctx, w.reason(), w.updates(stands, func(s stand) string { return s.here })...)
	}
	pushed := w.Repo.Remote(w.Remote).Push(ctx, w.updates(stands, func(s stand) string { return s.there })...)
	if errors.Is(pushed, git.ErrRejected) {
		return pushed
	}
	w.doubtful = append(w.doubtful, w.written)
	if w.Branch != nil {
		w.branchThere = stands[1].there
	}
	// A connection that broke may have broken after the refs moved, and a
	// remote that said yes is still asked what it has.
	if err := w.readBack(ctx, stands, pushed); err != nil {
		return err
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

// readBack asks the remote whether it has what was pushed; pushed is what the
// push itself said.
func (w *writing) readBack(ctx context.Context, stands []stand, pushed error) error {
	there, err := w.Repo.Remote(w.Remote).Refs(ctx, w.refs...)
	if err != nil {
		return &transportError{errors.Join(pushed, err)}
	}
	if there[memoryRef] == w.written {
		if w.Branch == nil || pushed == nil || there[w.Branch.Ref] != stands[1].there {
			return nil
		}
		// A repository of this machine was interrupted between the two.
		return fmt.Errorf("%w: %s", git.ErrStale, w.Branch.Ref)
	}
	if pushed != nil {
		return &transportError{pushed}
	}
	// Another writer may have gone on from our commit already.
	later := stand{ref: memoryRef, there: there[memoryRef]}
	if err := w.obtain(ctx, &later); err != nil {
		return err
	}
	if later.there != "" {
		if onward, err := w.Repo.IsAncestor(ctx, w.written, later.there); err != nil || onward {
			return err
		}
	}
	return fmt.Errorf("remote %s took %s for %s and now has %s", w.Remote, name(w.written), MemoryBranch, name(later.there))
}

// follow brings the local branches, and what is known of the remote's, up to
// what was pushed. A local branch that another run has moved in the meantime is
// left alone: the remote has everything, and the next update brings it here.
func (w *writing) follow(ctx context.Context, stands []stand) error {
	updates := w.updates(stands, func(s stand) string { return s.here })
	for _, u := range updates {
		known := git.RefUpdate{New: u.New, Old: git.Any}
		for _, known.Ref = range []string{w.tracking(u.Ref), w.seen(u.Ref)} {
			updates = append(updates, known)
		}
	}
	err := w.Repo.UpdateRefs(ctx, w.reason(), updates...)
	if err == nil || errors.Is(err, git.ErrStale) || errors.Is(err, git.ErrLocked) {
		return nil
	}
	return fmt.Errorf("the records are on %s, but the branches here did not follow: %w", w.Remote, err)
}
