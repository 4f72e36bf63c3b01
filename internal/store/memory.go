// Package store keeps what outlives a run: program files in a checkout, and
// each program's books on the branch memory/autoloop.
package store

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/org/autoloop/internal/git"
)

// MemoryBranch is the orphan branch that holds the books at its root.
const MemoryBranch = "memory/autoloop"

const memoryRef = "refs/heads/" + MemoryBranch

// Files are the three files of a program; nil is one that is not there.
type Files struct{ State, Results, Ledger []byte }

// The endings of the three files' names.
const (
	stateSuffix   = ".md"
	resultsSuffix = ".results.tsv"
	ledgerSuffix  = ".jsonl"
)

// Memory reads and writes the memory branch with plumbing alone: the user's
// checkout, index and HEAD take no part. With a Remote that is the truth, and
// the local branches follow it.
type Memory struct {
	Repo *git.Repo
	// Remote names the remote to share with; "" keeps everything local.
	Remote string
	// Now gives commits their time.
	Now func() time.Time
}

// Update is one change of a program's books.
type Update struct {
	Program string
	Message string
	// Apply makes the new files from the current ones. It is called again on
	// fresh files each time that another writer was faster; its error ends the
	// update.
	Apply func(current Files) (Files, error)
	// Branch, optional, moves in the same transaction as the books.
	Branch *git.RefUpdate
	// Claims, optional, is a ref that a later update will move: that something
	// is in its way is found out now.
	Claims string
}

// retryTime bounds how long a lost race is tried again.
const retryTime = 30 * time.Second

// Read returns a program's files and the commit that they are from, "" when
// there is no memory branch yet. With a remote it is asked first.
func (m *Memory) Read(ctx context.Context, name string) (files Files, head string, err error) {
	if head, err = m.refresh(ctx); err != nil || head == "" {
		return Files{}, head, err
	}
	files, err = m.read(ctx, head, name)
	return files, head, err
}

// States returns the state files of all programs by name, as the memory
// branch has them, and its commit. It asks no remote.
func (m *Memory) States(ctx context.Context) (states map[string][]byte, head string, err error) {
	head, err = m.local(ctx)
	if err != nil || head == "" {
		return nil, head, err
	}
	entries, err := m.Repo.LsRoot(ctx, head)
	if err != nil {
		return nil, "", err
	}
	var names, ids []string
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Path, stateSuffix); ok && entry.Type == "blob" {
			names, ids = append(names, name), append(ids, entry.ID)
		}
	}
	objects, err := m.Repo.Cat(ctx, ids...)
	if err != nil {
		return nil, "", err
	}
	states = make(map[string][]byte, len(names))
	for i, name := range names {
		states[name] = objects[i].Data
	}
	return states, head, nil
}

func (m *Memory) read(ctx context.Context, head, name string) (Files, error) {
	objects, err := m.Repo.Cat(ctx, head+":"+name+stateSuffix, head+":"+name+resultsSuffix, head+":"+name+ledgerSuffix)
	if err != nil {
		return Files{}, fmt.Errorf("read the books of %s: %w", name, err)
	}
	data := func(o git.Object) []byte {
		if o.Missing() {
			return nil
		}
		return append([]byte{}, o.Data...)
	}
	return Files{State: data(objects[0]), Results: data(objects[1]), Ledger: data(objects[2])}, nil
}

// local is the commit of the memory branch here; of the remote's when there is
// a remote and no branch here.
func (m *Memory) local(ctx context.Context) (string, error) {
	refs := []string{memoryRef}
	if m.Remote != "" {
		refs = []string{m.tracking(memoryRef), memoryRef}
	} else {
		refs = append(refs, "refs/remotes/origin/"+MemoryBranch)
	}
	for _, ref := range refs {
		head, ok, err := m.Repo.Resolve(ctx, ref)
		if err != nil || ok {
			return head, err
		}
	}
	return "", nil
}

func (m *Memory) tracking(ref string) string {
	return "refs/remotes/" + m.Remote + "/" + strings.TrimPrefix(ref, "refs/heads/")
}

// Update changes the books by one commit, and returns it. All refs move, or
// none.
func (m *Memory) Update(ctx context.Context, u Update) (commit string, err error) {
	if err := m.unobstructed(ctx, u); err != nil {
		return "", err
	}
	attempt := func() (string, error) {
		commit, err := m.once(ctx, u)
		if err == nil || errors.Is(err, git.ErrStale) || errors.Is(err, git.ErrLocked) {
			return commit, err
		}
		return "", backoff.Permanent(err)
	}
	policy := backoff.NewExponentialBackOff()
	policy.InitialInterval = 20 * time.Millisecond
	policy.MaxInterval = 2 * time.Second
	policy.RandomizationFactor = 0.8
	commit, err = backoff.Retry(ctx, attempt, backoff.WithBackOff(policy), backoff.WithMaxElapsedTime(retryTime))
	if errors.Is(err, git.ErrStale) || errors.Is(err, git.ErrLocked) {
		return "", fmt.Errorf("write the books of %s: other writers were faster for %s: %w", u.Program, retryTime, err)
	}
	return commit, err
}

// once tries the update on the branch as it is now.
func (m *Memory) once(ctx context.Context, u Update) (string, error) {
	head, err := m.refresh(ctx)
	if err != nil {
		return "", err
	}
	current := Files{}
	if head != "" {
		if current, err = m.read(ctx, head, u.Program); err != nil {
			return "", err
		}
	}
	next, err := u.Apply(current)
	if err != nil {
		return "", err
	}
	commit, err := m.commit(ctx, head, u, next)
	if err != nil {
		return "", err
	}
	updates := []git.RefUpdate{{Ref: memoryRef, New: commit, Old: head}}
	if u.Branch != nil {
		updates = append(updates, *u.Branch)
	}
	return commit, m.move(ctx, u.Message, updates)
}

func (m *Memory) commit(ctx context.Context, head string, u Update, next Files) (string, error) {
	files := map[string]*git.File{}
	for suffix, data := range map[string][]byte{stateSuffix: next.State, resultsSuffix: next.Results, ledgerSuffix: next.Ledger} {
		if data != nil {
			files[u.Program+suffix] = &git.File{Data: data}
		}
	}
	tree, err := m.Repo.WriteFiles(ctx, head, files)
	if err != nil {
		return "", fmt.Errorf("write the books of %s: %w", u.Program, err)
	}
	var parents []string
	if head != "" {
		parents = []string{head}
	}
	return m.Repo.CommitTree(ctx, tree, parents, u.Message+"\n", m.Now())
}

// move moves the refs: on the remote first, where there is one, and then here.
func (m *Memory) move(ctx context.Context, message string, updates []git.RefUpdate) error {
	if m.Remote == "" {
		return m.Repo.UpdateRefs(ctx, "autoloop: "+message, updates...)
	}
	if err := m.push(ctx, updates); err != nil {
		return err
	}
	var here []git.RefUpdate
	for _, u := range updates {
		here = append(here, git.RefUpdate{Ref: m.tracking(u.Ref), New: u.New, Old: git.Any}, git.RefUpdate{Ref: u.Ref, New: u.New, Old: git.Any})
	}
	return m.Repo.UpdateRefs(ctx, "autoloop: "+message, here...)
}

// push moves the refs on the remote and reads them back: after a connection
// that broke nothing else tells whether they moved.
func (m *Memory) push(ctx context.Context, updates []git.RefUpdate) error {
	pushed := m.Repo.Push(ctx, m.Remote, updates...)
	if errors.Is(pushed, git.ErrRejected) {
		return pushed
	}
	names := make([]string, len(updates))
	for i, u := range updates {
		names[i] = u.Ref
	}
	there, err := m.Repo.LsRemote(ctx, m.Remote, names...)
	if err != nil {
		return errors.Join(pushed, err)
	}
	for _, u := range updates {
		if there[u.Ref] != u.New {
			if pushed != nil {
				return pushed
			}
			return fmt.Errorf("%w: %s is not what was pushed a moment ago", git.ErrStale, u.Ref)
		}
	}
	return nil
}

// refresh returns the head of the memory branch. With a remote it is fetched,
// and the local branch brought up to it; local commits that the remote lacks
// are an error, never overwritten.
func (m *Memory) refresh(ctx context.Context) (string, error) {
	here, _, err := m.Repo.Resolve(ctx, memoryRef)
	if err != nil || m.Remote == "" {
		return here, err
	}
	there, err := m.Repo.LsRemote(ctx, m.Remote, memoryRef)
	if err != nil {
		return "", err
	}
	head := there[memoryRef]
	if head == "" {
		return "", m.onlyHere(here)
	}
	if head == here {
		return head, nil
	}
	if err := m.Repo.Fetch(ctx, m.Remote, "+"+memoryRef+":"+m.tracking(memoryRef)); err != nil {
		return "", err
	}
	if head, _, err = m.Repo.Resolve(ctx, m.tracking(memoryRef)); err != nil {
		return "", err
	}
	if here != "" {
		if err := m.follows(ctx, here, head); err != nil {
			return "", err
		}
	}
	return head, nil
}

func (m *Memory) onlyHere(here string) error {
	if here == "" {
		return nil
	}
	return fmt.Errorf("branch %s is here and not on %s; share it once with `git push %s %s`", MemoryBranch, m.Remote, m.Remote, MemoryBranch)
}

func (m *Memory) follows(ctx context.Context, here, head string) error {
	ancestor, err := m.Repo.IsAncestor(ctx, here, head)
	if err != nil || ancestor {
		return err
	}
	return fmt.Errorf("branch %s here (%.12s) and on %s (%.12s) went different ways; keep one: `git push %s %s` or `git branch -D %s`",
		MemoryBranch, here, m.Remote, head, m.Remote, MemoryBranch, MemoryBranch)
}

// unobstructed says which checkout or branch keeps the refs from moving.
func (m *Memory) unobstructed(ctx context.Context, u Update) error {
	checkedOut, err := m.Repo.CheckedOutBranches(ctx)
	if err != nil {
		return err
	}
	refs := []string{memoryRef}
	if u.Branch != nil {
		refs = append(refs, u.Branch.Ref)
	}
	if u.Claims != "" {
		refs = append(refs, u.Claims)
	}
	for _, ref := range refs {
		name := strings.TrimPrefix(ref, "refs/heads/")
		if where, out := checkedOut[ref]; out {
			return fmt.Errorf("branch %s is checked out in %s; check out another branch there, since Autoloop writes it", name, where)
		}
		above := path.Dir(ref)
		if _, there, err := m.Repo.Resolve(ctx, above); err != nil {
			return err
		} else if there {
			return &git.BlockedError{Ref: ref, By: above}
		}
	}
	return nil
}
