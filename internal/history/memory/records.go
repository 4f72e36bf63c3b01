package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
)

// ErrNoRecords says that a program has no records yet.
var ErrNoRecords = errors.New("it has no records yet")

// Signers are whose signatures count: for SSH those of an allowed-signers file, for
// OpenPGP those that the user's keyring trusts.
type Signers struct {
	How     git.Signing
	Allowed string
}

// Records reads the ledger of a program and all that is held against it; its commits are
// on a branch. With signers they and those of the records have to be signed.
func (m *Memory) Records(ctx context.Context, name, branch string, signers *Signers) (audit.Records, error) {
	stands, err := m.stand(ctx, memoryRef, "refs/heads/"+branch)
	if err != nil {
		return audit.Records{}, err
	}
	head := stands[0].head
	files, err := m.At(ctx, head, name)
	if err != nil {
		return audit.Records{}, err
	}
	if files.State == nil && files.Ledger == nil {
		return audit.Records{}, ErrNoRecords
	}
	table, err := results.Parse(files.Results)
	if err != nil {
		return audit.Records{}, fmt.Errorf("read %s.results.tsv on the memory branch: %w", name, err)
	}
	doc, err := state.Parse(files.State)
	if err != nil {
		return audit.Records{}, fmt.Errorf("read %s.md on the memory branch: %w", name, err)
	}
	log := files.Ledger.Copy()
	records := audit.Records{
		Events: log.Events, State: doc, Rows: table.Rows(), Branch: branch, Head: stands[1].head,
	}
	if records.Commits, err = m.keptCommits(ctx, name, records.Head, log.Events); err != nil {
		return records, err
	}
	summary := log.Summary()
	tip := summary.Head()
	if on, err := m.within(ctx, tip, records.Head); err == nil && on && tip != "" {
		beyond, err := m.Repo.Log(ctx, records.Head, "^"+tip)
		if err != nil {
			return records, err
		}
		records.Beyond = len(beyond)
	}
	if records.Changed, err = m.changed(ctx, log.Events); err != nil {
		return records, err
	}
	if records.Rewritten, err = m.rewritten(ctx, head, name, log); err != nil {
		return records, err
	}
	fresh, err := m.CheckSeen(ctx, head)
	if err != nil {
		rewritten, is := errors.AsType[*RewrittenError](err)
		if !is {
			return records, err
		}
		records.Rewritten, err = append(records.Rewritten, rewritten.Error()), nil
	}
	if fresh {
		records.Unseen = []string{"this clone has not worked with the memory branch before: whether it was cut back or " +
			"rewritten since then is not known"}
	}
	if m.Repo.IsShallow() {
		records.Unseen = append(records.Unseen, "the clone is shallow: whether commits changed what was recorded before is "+
			"not known; run `git fetch --unshallow`")
	}
	if signers != nil {
		records.Unknown, err = m.unknown(ctx, *signers, head, name, records.Commits)
	}
	return records, err
}

// unknown says which commits nobody known has signed.
func (m *Memory) unknown(ctx context.Context, signers Signers, head, name string,
	kept []audit.Commit,
) (found []string, err error) {
	var ids []string
	for _, commit := range kept {
		ids = append(ids, commit.ID)
	}
	for _, one := range []struct {
		says        string
		revs, paths []string
	}{{"commit %.12s of " + MemoryBranch, []string{head}, named(name)}, {"the kept commit %.12s", ids, nil}} {
		if len(one.revs) == 0 {
			continue
		}
		unsigned, err := m.Repo.Unsigned(ctx, signers.How, signers.Allowed, one.revs, one.paths)
		if err != nil {
			return nil, fmt.Errorf("check signatures: %w", err)
		}
		for _, commit := range unsigned {
			found = append(found, fmt.Sprintf("nobody known has signed "+one.says, commit))
		}
	}
	return found, nil
}

// changed lists, by the commit that a decision made, the files in which that differs from
// the one that it was compared with. Of what is not here it has nothing.
func (m *Memory) changed(ctx context.Context, events []history.Event) (map[string][]string, error) {
	changed := map[string][]string{}
	for _, e := range history.Of[*history.Decided](events) {
		if e.Commit == "" || e.Parent == "" || changed[e.Commit] != nil {
			continue
		}
		diff, err := m.Repo.Changes(ctx, e.Parent, e.Commit)
		if _, missing := errors.AsType[*git.Error](err); missing {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("compare commit %.12s with %.12s: %w", e.Commit, e.Parent, err)
		}
		changed[e.Commit] = []string{}
		for _, one := range diff {
			changed[e.Commit] = append(changed[e.Commit], one.Path)
		}
	}
	return changed, nil
}

// keptCommits lists the commits that say that this program kept them: those since its first
// baseline, on its branch, whose head is given, and on the default branch.
func (m *Memory) keptCommits(ctx context.Context, name, head string, events []history.Event) ([]audit.Commit, error) {
	base, from := "", ""
	for _, e := range history.Of[*history.Measured](events) {
		if e.Role == history.Baseline && e.BaseBranch != "" {
			base, from = "refs/heads/"+e.BaseBranch, cmp.Or(from, e.Commit)
		}
	}
	if m.Remote != "" && base != "" { // it may have moved on there
		refs, err := m.Repo.Remote(m.Remote).Refs(ctx, base)
		if commit, shared := refs[base]; shared && err == nil {
			err = m.Repo.Remote(m.Remote).Obtain(ctx, commit, base)
			base = commit
		}
		if err != nil {
			return nil, err
		}
	}
	var revs []string
	for _, one := range [][2]string{{"", head}, {"", base}, {"^", from}} {
		if commit, found, err := m.Repo.Resolve(ctx, one[1]); err == nil && found {
			revs = append(revs, one[0]+commit)
		}
	}
	if len(revs) == 0 {
		return nil, nil
	}
	log, err := m.Repo.Log(ctx, revs...)
	if err != nil {
		return nil, err
	}
	var kept []audit.Commit
	for _, commit := range log {
		trailers := commit.Trailers()
		if strings.HasPrefix(commit.Subject(), "[Autoloop: "+name+"] ") && trailers["Autoloop-Iteration"] != "" {
			kept = append(kept, audit.Commit{
				ID: commit.ID, Iteration: trailers["Autoloop-Iteration"],
				Metric: trailers["Autoloop-Metric"],
			})
		}
	}
	return kept, nil
}

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
	asked := ""
	for i, v := range versions {
		if v.NewID == "" {
			if v.Commit == asked {
				continue
			}
			asked = v.Commit
			if whole, err := m.removedWhole(ctx, v.Commit, name); err != nil {
				return nil, err
			} else if whole {
				versions = versions[:i]
				break
			}
		} else if v.OldID != "" {
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
	commits, err := m.Repo.Log(ctx, head)
	if err != nil {
		return nil, err
	}
	dates := map[string]time.Time{}
	for _, commit := range commits {
		dates[commit.ID] = commit.Time
	}
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	commit, before, newest := "", -1, -1 // before is the newest iteration of the commits before
	written := map[int]time.Time{}
	for _, v := range slices.Backward(versions) {
		if v.Commit != commit {
			commit, before = v.Commit, newest
			if date := dates[commit]; date.After(m.Now().Add(clocksDiffer)) {
				say("commit %.12s is dated %s, which is not yet", commit, date.Format(time.RFC3339))
			}
		}
		number, ours := numberOf(strings.TrimPrefix(v.Path, name+iterationsSuffix+"/"))
		switch {
		case !ours:
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

// removedWhole reports whether a commit has neither the ledger nor the state of a program.
func (m *Memory) removedWhole(ctx context.Context, commit, name string) (bool, error) {
	objects, err := m.Repo.Cat(ctx, commit+":"+name+iterationsSuffix, commit+":"+name+stateSuffix)
	return err == nil && objects[0].Missing() && objects[1].Missing(), err
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
