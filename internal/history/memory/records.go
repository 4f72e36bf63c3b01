package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

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
		beyond, err := m.Repo.Log(ctx, 0, records.Head, "^"+tip)
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
	records.Shallow = m.Repo.IsShallow()
	if records.Fresh, err = m.CheckSeen(ctx, head); err != nil {
		rewritten, is := errors.AsType[*RewrittenError](err)
		if !is {
			return records, err
		}
		records.Rewritten, err = append(records.Rewritten, rewritten.Error()), nil
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
	log, err := m.Repo.Log(ctx, 0, revs...)
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
