package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

// clocksDiffer is how far the clocks of the machines may be apart that write the records
// and read them.
const clocksDiffer = 10 * time.Minute

// rewritten walks the memory branch and says which commits changed what was recorded
// before: a commit begins a new iteration, or adds to the newest. A program that was
// removed whole has begun anew since. It also says what is dated later than it was written.
func (m *Memory) rewritten(ctx context.Context, head, name string, log *history.Log) (found []string, err error) {
	versions, err := m.Repo.Versions(ctx, name+iterationsSuffix, head) // the newest commit first
	if err != nil || len(versions) == 0 {
		return nil, err
	}
	var ids []string
	leaves := map[string]bool{} // by commit, whether it has any of the files that it changes
	for _, v := range versions {
		leaves[v.Commit] = leaves[v.Commit] || v.NewID != ""
		if v.OldID != "" && v.NewID != "" {
			ids = append(ids, v.OldID, v.NewID)
		}
	}
	objects, err := m.Repo.Cat(ctx, ids...)
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	for i, o := range objects {
		texts[ids[i]] = o.Data
	}
	commits, err := m.Repo.Log(ctx, 0, head)
	if err != nil {
		return nil, err
	}
	dates := map[string]time.Time{}
	for _, commit := range commits {
		dates[commit.ID] = commit.Time
	}
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	commit, before, newest, whole := "", -1, -1, false // before is the newest iteration of the commits before
	written := map[int]time.Time{}
	for _, v := range slices.Backward(versions) {
		if v.Commit != commit {
			commit, before, whole = v.Commit, newest, !leaves[v.Commit]
			if whole {
				if whole, err = m.removedWhole(ctx, commit, name); err != nil {
					return nil, err
				}
			}
			if whole {
				found, newest = nil, -1
			}
			if date := dates[commit]; date.After(m.Now().Add(clocksDiffer)) {
				say("commit %.12s is dated %s, which is not yet", commit, date.Format(time.RFC3339))
			}
		}
		number, ours := numberOf(strings.TrimPrefix(v.Path, name+iterationsSuffix+"/"))
		switch {
		case !ours || whole:
			continue
		case v.NewID == "":
			say("commit %.12s removes iteration %d, and leaves the state", commit, number)
		case v.OldID == "" && number <= before:
			say("commit %.12s adds iteration %d after iteration %d", commit, number, before)
		case v.OldID != "" && number < before:
			say("commit %.12s changes iteration %d, after which iteration %d had begun", commit, number, before)
		case v.OldID != "" && !history.Extends(texts[v.NewID], texts[v.OldID]):
			say("commit %.12s changes or removes what iteration %d had recorded", commit, number)
		}
		newest, written[number] = max(newest, number), dates[commit]
	}
	for _, it := range log.Iterations() {
		for _, e := range it.Events {
			if at := e.Header().Time; at.After(written[it.Number].Add(clocksDiffer)) {
				say("iteration %d has an event of %s, and was written before, at %s", it.Number,
					at.Format(time.RFC3339), written[it.Number].Format(time.RFC3339))
				break
			}
		}
	}
	return found, nil
}

// removedWhole reports whether a commit has no state of a program either.
func (m *Memory) removedWhole(ctx context.Context, commit, name string) (bool, error) {
	objects, err := m.Repo.Cat(ctx, commit+":"+name+stateSuffix)
	return err == nil && objects[0].Missing(), err
}

// RewrittenError says that the memory branch does not go on from where this clone last saw it.
type RewrittenError struct{ Seen, Now string }

func (e *RewrittenError) Error() string {
	return fmt.Sprintf("branch %[1]s was at %.12[2]s and is now at %.12[3]s, which does not go on from there: put it "+
		"back with "+
		"`git push --force origin %.12[2]s:%[1]s` (or `git branch -f %[1]s %.12[2]s` without a remote), "+
		"or take the records as they are now with `iterate resume NAME --memory %.12[3]s`", MemoryBranch, e.Seen, e.Now)
}

// CheckSeen is a *RewrittenError when the memory branch, which is at head, was cut back or
// rewritten since this clone last saw it. fresh says that this clone cannot tell.
func (m *Memory) CheckSeen(ctx context.Context, head string) (fresh bool, err error) {
	seen, known, err := m.Repo.Resolve(ctx, m.seen(memoryRef))
	if err == nil && !known && m.Remote == "" { // it may have worked with its remote alone
		seen, known, err = m.Repo.Resolve(ctx, (&Memory{Repo: m.Repo, Remote: "origin"}).seen(memoryRef))
	}
	if err != nil || !known {
		return true, err
	}
	for range 2 { // another run may have written since head was read
		if head == "" || head == seen { // a branch that is gone begins anew
			return false, nil
		}
		if on, err := m.Repo.IsAncestor(ctx, seen, head); err != nil || on {
			return false, err
		}
		if head, err = m.Head(ctx); err != nil {
			return false, err
		}
	}
	return false, &RewrittenError{seen, head}
}

// Accept takes the memory branch as it is now for what this clone has seen.
func (m *Memory) Accept(ctx context.Context, commit string) error {
	head, err := m.Head(ctx)
	if err != nil {
		return err
	}
	if id, known, err := m.Repo.Resolve(ctx, commit); err != nil || !known || id != head {
		return fmt.Errorf("branch %s is at %.12s, not at %s", MemoryBranch, head, commit)
	}
	return m.Repo.UpdateRefs(ctx, "autoloop: accepted", git.RefUpdate{Ref: m.seen(memoryRef), New: head, Old: git.Any})
}

// checkLedger refuses to go on where a ledger was taken away and the state is left:
// it would be taken for a state that never had one.
func (w *writing) checkLedger(ctx context.Context, head string, current Files) error {
	if head == "" || current.State == nil || len(current.Ledger.Iterations()) > 0 {
		return nil
	}
	versions, err := w.Repo.Versions(ctx, w.Program+iterationsSuffix, head)
	if err != nil || len(versions) == 0 {
		return err
	}
	if whole, err := w.removedWhole(ctx, versions[0].Commit, w.Program); err != nil || whole {
		return err
	}
	return fmt.Errorf(
		"the ledger of %s is gone and its state is not: commit %.12s of branch %s took it away; "+
			"revert that commit there, or remove the state too to begin anew", w.Program, versions[0].Commit,
		MemoryBranch)
}
