package memory

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
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
}

// DivergedError says that a branch has commits here that the remote lacks, and
// the reverse, so that neither may be overwritten.
type DivergedError struct{ Ref, Here, There, Remote string }

func (e *DivergedError) Error() string {
	name := strings.TrimPrefix(e.Ref, "refs/heads/")
	return fmt.Sprintf("branch %s is at %.12s here and at %.12s on %s, and each has commits that the other lacks; "+
		"take the remote's with `git branch -f %s %.12s`, or yours with `git push --force-with-lease=%s:%.12s %s %s`",
		name, e.Here, e.There, e.Remote, name, e.There, name, e.There, e.Remote, name)
}

// stand finds out where the branches stand, in the order of refs. Nothing but
// objects is written.
func (m *Memory) stand(ctx context.Context, refs ...string) ([]stand, error) {
	local, err := m.localRefs(ctx, refs)
	if err != nil {
		return nil, err
	}
	remote := map[string]string{}
	if m.Remote != "" {
		if remote, err = m.remoteRefs(ctx, refs); err != nil {
			return nil, err
		}
	}
	stands := make([]stand, len(refs))
	for i, ref := range refs {
		s := stand{ref: ref, here: local[ref], there: remote[ref]}
		if m.Remote == "" {
			s.there = local[m.tracking(ref)]
			err = m.chooseLocally(ctx, &s)
		} else {
			err = m.choose(ctx, &s, local[m.seen(ref)], local[m.tracking(ref)])
		}
		if err != nil {
			return nil, err
		}
		stands[i] = s
	}
	return stands, nil
}

// localRefs reads the local values of the branches and of what is known of the
// remote's, in one process. A branch that is in the way is an error.
func (m *Memory) localRefs(ctx context.Context, refs []string) (map[string]string, error) {
	var names []string
	for _, ref := range refs {
		names = append(names, ref, m.tracking(ref), m.seen(ref))
		names = append(names, obstacles(ref)...)
	}
	listed, err := m.Repo.ListRefs(ctx, names...)
	if err != nil {
		return nil, err
	}
	values := make(map[string]string, len(listed))
	for _, ref := range listed {
		values[ref.Name] = ref.ID
	}
	return values, blocked(refs, values, "")
}

func (m *Memory) remoteRefs(ctx context.Context, refs []string) (map[string]string, error) {
	var names []string
	for _, ref := range refs {
		names = append(append(names, ref), obstacles(ref)...)
	}
	values, err := m.Repo.Remote(m.Remote).Refs(ctx, names...)
	if err != nil {
		return nil, &transportError{err}
	}
	return values, blocked(refs, values, m.Remote)
}

// obstacles are the names that, as branches, would keep ref from existing.
func obstacles(ref string) []string {
	var names []string
	for above := path.Dir(ref); strings.HasPrefix(above, "refs/heads/"); above = path.Dir(above) {
		names = append(names, above)
	}
	return names
}

// blocked says which ref keeps one of ours from existing: a name cannot be a branch and a
// directory of branches.
func blocked(refs []string, values map[string]string, remote string) error {
	for _, ref := range refs {
		for name := range values {
			if strings.HasPrefix(name, ref+"/") || slices.Contains(obstacles(ref), name) {
				return &git.BlockedError{Ref: ref, By: name, Remote: remote}
			}
		}
	}
	return nil
}

// chooseLocally is for work without a remote: what was fetched counts only
// when nothing would be lost by it.
func (m *Memory) chooseLocally(ctx context.Context, s *stand) error {
	s.head = s.here
	behind, err := m.within(ctx, s.here, s.there)
	if behind {
		s.head = s.there
	}
	return err
}

// within reports whether a commit has all of another one; "" has nothing.
func (m *Memory) within(ctx context.Context, a, b string) (bool, error) {
	if a == "" || b == "" {
		return a == "" && b != "", nil
	}
	return m.Repo.IsAncestor(ctx, a, b)
}

// choose makes the remote's branch the one that counts, unless the local one
// has commits beyond it that the remote never had: those are pushed along.
// published is what the remote was known to have.
func (m *Memory) choose(ctx context.Context, s *stand, published ...string) error {
	s.head = s.there
	if err := m.obtain(ctx, s); err != nil || s.here == "" {
		return err
	}
	if s.there == "" && s.ref == memoryRef {
		// Records are never given up because a branch was deleted.
		s.head = s.here
		return nil
	}
	// What the remote had once and has no more was taken back there.
	for _, known := range append([]string{s.there}, published...) {
		if behind, err := m.within(ctx, s.here, known); err != nil || behind {
			return err
		}
	}
	if s.there != "" {
		if ahead, err := m.within(ctx, s.there, s.here); err != nil {
			return err
		} else if !ahead {
			return &DivergedError{Ref: s.ref, Here: s.here, There: s.there, Remote: m.Remote}
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

// tracking is where git keeps what it fetched of a branch; nobody fetches into a ref of a URL's.
func (m *Memory) tracking(ref string) string { return m.remote().Tracking(ref) }

// seen is where the value is kept that we last saw on the remote, whatever the
// user fetches in the meantime.
func (m *Memory) seen(ref string) string {
	return "refs/autoloop/seen/" + m.remote().RefComponent() + "/" + strings.TrimPrefix(ref, "refs/heads/")
}

// remote is the remote that is worked with or, without one, origin.
func (m *Memory) remote() git.Remote { return m.Repo.Remote(cmp.Or(m.Remote, "origin")) }
