package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

// A repository of this machine moves the refs of a push one after the other, in
// the order of their names. When it is killed in between, the records have moved
// and the branch has not, or the reverse.

// settleTime is how long a half-moved remote must stay as it is to be one that a
// killed process left. A live one is done within milliseconds.
const settleTime = 3 * time.Second

// unfinishedThere is unfinished for a remote of this machine.
func (m *Memory) unfinishedThere(ctx context.Context, memory stand) (*git.RefUpdate, error) {
	if memory.there == "" || memory.there != memory.head || !m.Repo.Remote(m.Remote).IsLocal(ctx) {
		return nil, nil
	}
	announced, err := m.announced(ctx, memory.there)
	if err != nil || announced == nil || announced.New == "" || announced.New == announced.Old {
		return nil, err
	}
	if seen, err := m.everSeen(ctx, *announced); err != nil || seen {
		return nil, err // it moved, and somebody took it back
	}
	standsAtOld := func() (bool, error) {
		there, err := m.Repo.Remote(m.Remote).Refs(ctx, memoryRef, announced.Ref)
		return err == nil && there[announced.Ref] == announced.Old && there[memoryRef] == memory.there, err
	}
	if half, err := m.staysSo(ctx, standsAtOld); err != nil || !half {
		return nil, err
	}
	if err := m.Repo.Remote(m.Remote).Obtain(ctx, announced.New, announced.New); err != nil {
		return nil, nil //nolint:nilerr // the commit is nowhere: what is there stays
	}
	return announced, nil
}

// everSeen reports whether this clone knows that the remote had the new commit.
func (m *Memory) everSeen(ctx context.Context, move git.RefUpdate) (bool, error) {
	known, err := m.localRefs(ctx, []string{move.Ref})
	if err != nil {
		return false, err
	}
	for _, ref := range []string{m.seen(move.Ref), m.tracking(move.Ref)} {
		log, err := m.Repo.RefLog(ctx, ref)
		if err != nil || known[ref] == move.New || slices.Contains(log, move.New) {
			return err == nil, err
		}
	}
	return false, nil
}

// staysSo asks twice, with a while in between.
func (m *Memory) staysSo(ctx context.Context, ask func() (bool, error)) (bool, error) {
	if so, err := ask(); err != nil || !so {
		return false, err
	}
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-time.After(settleTime):
	}
	return ask()
}

// halfMoved returns the move that takes a branch on a remote of this machine back to
// where the records say that it is, when a run moved it there and was killed before
// it moved the records; else nil. What other people pushed stays.
func (w *writing) halfMoved(ctx context.Context, stands []stand, current Files) (*git.RefUpdate, error) {
	if w.Remote == "" || len(stands) < 2 || stands[1].there == "" || len(w.doubtful) > 0 {
		return nil, nil
	}
	branch := stands[1]
	log, err := current.Log()
	if err != nil {
		return nil, nil //nolint:nilerr // who applies the update says so
	}
	summary := log.Summary()
	expected := summary.Incumbent
	if waiting := log.Standing().Waiting(); waiting != nil {
		expected = waiting.Commit
	}
	if expected == "" || expected == branch.there {
		return nil, nil
	}
	commit, err := w.Repo.ReadCommit(ctx, branch.there)
	if err != nil || !ofInterruptedRun(commit, w.Program, log.Events) || !w.Repo.Remote(w.Remote).IsLocal(ctx) {
		return nil, err
	}
	if on, err := w.Repo.IsAncestor(ctx, expected, branch.there); err != nil || !on {
		return nil, err
	}
	stays, err := w.staysSo(ctx, func() (bool, error) {
		there, err := w.Repo.Remote(w.Remote).Refs(ctx, memoryRef, branch.ref)
		return err == nil && there[branch.ref] == branch.there && there[memoryRef] == stands[0].there, err
	})
	if err != nil || !stays {
		return nil, err
	}
	return &git.RefUpdate{Ref: branch.ref, Old: branch.there, New: expected}, nil
}

// ofInterruptedRun reports whether a run made the commit that began its iteration
// and never decided it.
func ofInterruptedRun(c git.Commit, name string, events []history.Event) bool {
	trailers := c.Trailers()
	if !strings.HasPrefix(c.Subject(), "[Autoloop: "+name+"] ") {
		return false
	}
	begun := false
	for _, e := range events {
		if history.CommitOf(e) == c.ID {
			return false
		}
		if h := e.Header(); h.Run == trailers["Autoloop-Run"] {
			switch e.(type) {
			case *history.Decided:
				return false
			case *history.Started:
				begun = begun || strconv.Itoa(h.Iteration) == trailers["Autoloop-Iteration"]
			}
		}
	}
	return begun
}

// moveThere finishes or undoes a move on the remote, and lets the update begin anew.
func (w *writing) moveThere(ctx context.Context, move git.RefUpdate) error {
	if err := w.Repo.Remote(w.Remote).Push(ctx, move); err != nil {
		return fmt.Errorf("finish an interrupted push: %w", err)
	}
	// The local branch follows, unless somebody else moved it.
	known := []git.RefUpdate{{Ref: w.tracking(move.Ref), New: move.New, Old: git.Any}, {Ref: w.seen(move.Ref), New: move.New, Old: git.Any}}
	if here, err := w.localRefs(ctx, []string{move.Ref}); err == nil && here[move.Ref] == move.Old && move.Old != "" {
		known = append(known, move)
	}
	err := w.Repo.UpdateRefs(ctx, "autoloop: finish an interrupted push", known...)
	if err == nil || errors.Is(err, git.ErrStale) || errors.Is(err, git.ErrLocked) {
		return fmt.Errorf("%w: %s", git.ErrStale, move.Ref)
	}
	return err
}
