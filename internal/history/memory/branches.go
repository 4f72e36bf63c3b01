package memory

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/org/autoloop/internal/git"
)

// stand is where one branch stands. An id is "" where the branch does not
// exist.
type stand struct {
	ref string
	// here is the local branch, there the remote's; without a remote there is
	// what was last fetched from origin.
	here, there string
	// head is the one that counts.
	head string
	// unfinished says that here has yet to move to head.
	unfinished bool
}

// diverged says that a branch has commits here that the remote lacks, and
// the reverse, so that neither may be overwritten.
func (m *Memory) diverged(s *stand) error {
	return fmt.Errorf("branch %[1]s is at %.12[2]s here and at %.12[3]s on %[4]s, and each has commits that the other "+
		"lacks; take the remote's with `git branch -f %[1]s %.12[3]s`, or yours with "+
		"`git push --force-with-lease=%[1]s:%.12[3]s %[4]s %[1]s`", strings.TrimPrefix(s.ref, "refs/heads/"), s.here,
		s.there, m.Remote)
}

// stand finds out where the branches stand, in the order of refs, of which the first is the memory branch. Nothing but
// objects is written.
func (m *Memory) stand(ctx context.Context, refs ...string) ([]stand, error) {
	var names []string
	for _, ref := range refs {
		names = append(names, ref, path.Dir(ref))
	}
	known := names
	for _, ref := range refs {
		known = append(known, m.tracking(ref), m.seen(ref))
	}
	listed, err := m.Repo.ListRefs(ctx, known...)
	if err != nil {
		return nil, err
	}
	local, remote := map[string]string{}, map[string]string{}
	for _, ref := range listed {
		local[ref.Name] = ref.ID
	}
	if err := blocked(refs, local, ""); err != nil {
		return nil, err
	}
	if m.Remote != "" {
		if remote, err = m.Repo.Remote(m.Remote).Refs(ctx, names...); err != nil {
			return nil, &transportError{err}
		}
		if err := blocked(refs, remote, m.Remote); err != nil {
			return nil, err
		}
	}
	stands := make([]stand, len(refs))
	for i, ref := range refs {
		s := &stands[i]
		*s = stand{ref: ref, here: local[ref], there: local[m.tracking(ref)]}
		var published []string // what the remote was known to have
		if m.Remote != "" {
			published = []string{local[m.seen(ref)], s.there}
			s.there = remote[ref]
			err = m.obtain(ctx, s)
		}
		if err == nil {
			err = m.choose(ctx, s, published)
		}
		if err == nil {
			err = m.complete(ctx, stands[0], s)
		}
		if err != nil {
			return nil, err
		}
	}
	return stands, nil
}

// blocked says which ref keeps one of ours from existing: a name cannot be a branch and a
// directory of branches.
func blocked(refs []string, values map[string]string, remote string) error {
	for _, ref := range refs {
		for name := range values {
			if strings.HasPrefix(name, ref+"/") || strings.HasPrefix(ref, name+"/") {
				return &git.BlockedError{Ref: ref, By: name, Remote: remote}
			}
		}
	}
	return nil
}

// within reports whether a commit has all of another one; "" has nothing.
func (m *Memory) within(ctx context.Context, a, b string) (bool, error) {
	if a == "" || b == "" {
		return a == "" && b != "", nil
	}
	return m.Repo.IsAncestor(ctx, a, b)
}

// choose makes the branch there the one that counts, unless the local one
// has commits beyond it that the remote never had: those are pushed along.
func (m *Memory) choose(ctx context.Context, s *stand, published []string) error {
	if s.there == "" && s.ref == memoryRef {
		published = nil // Records are never given up because a branch was deleted.
	}
	s.head = s.there
	// What the remote had once and has no more was taken back there.
	for _, known := range append(published, s.there) {
		if behind, err := m.within(ctx, s.here, known); err != nil || behind {
			return err
		}
	}
	if s.here != "" && s.there != "" && m.Remote != "" {
		if ahead, err := m.within(ctx, s.there, s.here); err != nil {
			return err
		} else if !ahead {
			return m.diverged(s)
		}
	}
	s.head = s.here
	return nil
}

// obtain fetches the remote's commit when it is not here. No branch moves by that:
// runs in the same clone do not get into each other's way.
func (m *Memory) obtain(ctx context.Context, s *stand) error {
	if s.there == "" {
		return nil
	}
	if s.here != s.there {
		if err := m.Repo.Remote(m.Remote).Obtain(ctx, s.there, s.ref); err != nil {
			return &transportError{err}
		}
	}
	_, here, err := m.Repo.Resolve(ctx, s.there)
	if err == nil && !here {
		err = fmt.Errorf("%w: %s on %s", git.ErrStale, s.ref, m.Remote)
	}
	return err
}

// programRefs is where the branches of programs are.
const programRefs = "refs/heads/autoloop/"

// complete finds the move of a program's branch that its newest record says and that did
// not happen. Git moves several local refs one after the other: a run that is
// killed in between has moved the records, which come first. A remote moves all in one step.
func (m *Memory) complete(ctx context.Context, memory stand, branch *stand) error {
	name, is := strings.CutPrefix(branch.ref, programRefs)
	if m.Remote != "" || !is || memory.here == "" || memory.here != memory.head {
		return nil
	}
	now, done, err := m.place(ctx, memory.here, name, branch.here)
	if err != nil || now == "" || done {
		return err
	}
	newest, err := m.Repo.ReadCommit(ctx, memory.here)
	if err != nil || len(newest.Parents) == 0 {
		return err
	}
	_, was, err := m.place(ctx, newest.Parents[0], name, branch.here)
	if err != nil || !was {
		return err // a person moved it
	}
	_, exists, err := m.Repo.Resolve(ctx, now)
	if err == nil && exists {
		branch.head, branch.unfinished = now, true
	}
	return err
}

// place is where the records say that a program's branch is, and whether it is there. Until something is
// kept there may be no branch.
func (m *Memory) place(ctx context.Context, head, name, here string) (commit string, is bool, err error) {
	files, err := m.At(ctx, head, name)
	if err != nil || files.Ledger == nil {
		return "", here == "", err
	}
	summary := files.Ledger.Summary()
	commit = summary.Head()
	return commit, here == commit || here == "" && commit == summary.Base, nil
}

// tracking is where git keeps what it fetched of a branch; nobody fetches into a ref of a URL's.
// Without a remote it is origin's.
func (m *Memory) tracking(ref string) string {
	return m.Repo.Remote(cmp.Or(m.Remote, "origin")).Tracking(ref)
}

// seenRefs is where the values of branches are kept that this clone wrote or accepted last, with a remote
// those that it last saw there, whatever the user fetches in the meantime.
const seenRefs = "refs/autoloop/seen/"

// seen is that of one branch. Without a remote it has the name of one without a name.
func (m *Memory) seen(ref string) string {
	return seenRefs + m.Repo.Remote(m.Remote).RefComponent() + "/" + strings.TrimPrefix(ref, "refs/heads/")
}

// CheckedOutError says that somebody works on a branch that Autoloop writes.
type CheckedOutError struct{ Ref, Where string }

func (e *CheckedOutError) Error() string {
	return fmt.Sprintf("branch %s is checked out in %s; check out another branch there, since Autoloop writes it",
		strings.TrimPrefix(e.Ref, "refs/heads/"), e.Where)
}

// checkCheckouts refuses to move a branch that somebody works on.
func (m *Memory) checkCheckouts(ctx context.Context, refs []string) error {
	listed, err := m.Repo.ListRefs(ctx, refs...)
	for _, ref := range listed {
		if ref.WorkTree != "" {
			err = &CheckedOutError{Ref: ref.Name, Where: ref.WorkTree}
		}
	}
	return err
}
