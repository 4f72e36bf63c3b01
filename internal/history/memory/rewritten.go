package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/cenkalti/backoff/v5"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

// rewritten walks the memory branch and says where it breaks the history of a
// program: a ledger only ever grows, so that each commit's begins with the one
// before. A program that was removed whole has begun anew since.
func (m *Memory) rewritten(ctx context.Context, head, name string) ([]string, error) {
	versions, err := m.Repo.Versions(ctx, name+ledgerSuffix, head)
	if err != nil {
		return nil, err
	}
	var found []string
	var later []byte // the open segment of the commit after, and that commit
	at := ""
	for _, v := range versions {
		if v.Blob == "" {
			whole, err := m.removedWhole(ctx, v.Commit, name)
			if err != nil || whole {
				return found, err
			}
			found = append(found, fmt.Sprintf("commit %.12s removes the ledger, and leaves the state", v.Commit))
		}
		objects, err := m.Repo.Cat(ctx, v.Blob)
		if v.Blob == "" {
			objects = make([]git.Object, 1)
		} else if err != nil {
			return nil, err
		}
		if at != "" {
			goesOn, err := m.goesOn(ctx, name, objects[0].Data, at, later)
			if err != nil {
				return nil, err
			}
			if !goesOn {
				found = append(found, fmt.Sprintf("commit %.12s changes or removes lines of the ledger that were there before", at))
			}
		}
		later, at = objects[0].Data, v.Commit
	}
	slices.Reverse(found)
	return found, nil
}

// goesOn reports whether the ledger of a commit, whose open segment is later, begins
// with one whose open segment was before. Segments that were sealed in between begin
// with what was open before.
func (m *Memory) goesOn(ctx context.Context, name string, before []byte, commit string, later []byte) (bool, error) {
	if bytes.HasPrefix(later, before) {
		return true, nil
	}
	first, last := history.Before(before)+1, history.Before(later)
	for number := first; number <= last; number++ {
		objects, err := m.Repo.Cat(ctx, fmt.Sprintf("%s:%s%s/"+segmentForm, commit, name, sealedSuffix, number))
		if err != nil || objects[0].Missing() {
			return false, err
		}
		segment := objects[0].Data
		if number > first {
			segment = history.Body(segment)
		}
		if len(segment) >= len(before) {
			return bytes.HasPrefix(segment, before), nil
		}
		rest, is := bytes.CutPrefix(before, segment)
		if !is {
			return false, nil
		}
		before = rest
	}
	return last >= first && bytes.HasPrefix(history.Body(later), before), nil
}

// removedWhole reports whether a commit has no state of a program either.
func (m *Memory) removedWhole(ctx context.Context, commit, name string) (bool, error) {
	objects, err := m.Repo.Cat(ctx, commit+":"+name+stateSuffix)
	return err == nil && objects[0].Missing(), err
}

// dropped says which commits the memory branch had on the remote and lost there.
func (m *Memory) dropped(ctx context.Context, head string) ([]string, error) {
	if m.Remote == "" || head == "" {
		return nil, nil
	}
	known, err := m.localRefs(ctx, []string{memoryRef})
	if err != nil {
		return nil, err
	}
	for _, ref := range []string{m.seen(memoryRef), m.tracking(memoryRef)} {
		if known[ref] == "" {
			continue
		}
		if there, err := m.Repo.IsAncestor(ctx, known[ref], head); err != nil || there {
			return nil, err
		}
		return []string{fmt.Sprintf("%s was at %.12s on %s, which is not in its history any more", MemoryBranch, known[ref], m.Remote)}, nil
	}
	return nil, nil
}

// checkLedger refuses to go on where a ledger was taken away and the state is left:
// it would be taken for a state that never had one.
func (w *writing) checkLedger(ctx context.Context, head string, current Files) error {
	if head == "" || current.State == nil || len(bytes.TrimSpace(current.Ledger)) > 0 {
		return nil
	}
	versions, err := w.Repo.Versions(ctx, w.Program+ledgerSuffix, head)
	if err != nil || len(versions) == 0 {
		return err
	}
	if whole, err := w.removedWhole(ctx, versions[0].Commit, w.Program); err != nil || whole {
		return err
	}
	return backoff.Permanent(fmt.Errorf("the ledger of %s is gone and its state is not: commit %.12s of branch %s took it away; "+
		"revert that commit there, or remove the state too to begin anew", w.Program, versions[0].Commit, MemoryBranch))
}
