// Package memory keeps what outlives a run: program files in a checkout, and
// each program's records on the branch memory/autoloop.
package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

// MemoryBranch is the orphan branch that holds the records at its root.
const MemoryBranch = "memory/autoloop"

const memoryRef = "refs/heads/" + MemoryBranch

// MaxFile is the size in bytes beyond which a file of the records is refused
// instead of read.
const MaxFile = 64 << 20

// Files are the files of a program; nil is one that is not there.
type Files struct {
	State, Results []byte
	// Ledger is what was recorded.
	Ledger *history.Log

	unreadable error    // why Ledger is nil although there is one
	iterations []string // where the files of the ledger are
}

// Log returns a copy of the ledger that the caller may append to. It is empty when the
// program has none; the error is a *LedgerError when the ledger cannot be read.
func (f Files) Log() (*history.Log, error) {
	if f.unreadable != nil {
		return nil, f.unreadable
	}
	return f.Ledger.Copy(), nil
}

// The endings of the names of a program's files.
const (
	stateSuffix   = ".md"
	resultsSuffix = ".results.tsv"
)

// Memory reads and writes the memory branch with plumbing alone: the user's
// checkout, index and HEAD take no part. With a Remote that is the truth, and
// the local branches follow it. It keeps no state that is not git's, and is safe for
// concurrent use, also by other processes.
type Memory struct {
	Repo *git.Repo
	// Remote names the remote to share with; "" keeps everything local.
	Remote string
	// Now gives commits their time.
	Now func() time.Time

	known atomic.Pointer[remembered]
	last  atomic.Pointer[reading]
}

// Head returns the commit that the memory branch is at, "" before it
// exists. With a remote it is asked; without one, what was last fetched from
// origin counts when the local branch has nothing beyond it.
func (m *Memory) Head(ctx context.Context) (string, error) {
	return m.HeadOf(ctx, memoryRef)
}

// HeadOf is Head for any branch that Autoloop writes; ref is its full name. A
// local branch that the remote had once and has no more does not count.
func (m *Memory) HeadOf(ctx context.Context, ref string) (string, error) {
	stands, err := m.stand(ctx, slices.Compact([]string{memoryRef, ref})...)
	if err != nil {
		return "", err
	}
	branch := stands[len(stands)-1]
	unfinished, err := m.unfinished(ctx, stands[0], branch)
	if err == nil && unfinished != nil {
		return unfinished.New, nil
	}
	return branch.head, err
}

// Read returns a program's files and the commit that they are from, "" when
// there is no memory branch yet. With a remote it is asked first.
func (m *Memory) Read(ctx context.Context, name string) (files Files, head string, err error) {
	if head, err = m.Head(ctx); err != nil {
		return Files{}, "", err
	}
	files, err = m.At(ctx, head, name)
	return files, head, err
}

// reading is what At found last: a commit never changes, and a run reads its records
// again and again.
type reading struct {
	head, name string
	files      Files
}

// At returns a program's files as they were at a commit of the memory branch, none when that is "".
func (m *Memory) At(ctx context.Context, head, name string) (Files, error) {
	if err := checkName(name); err != nil || head == "" {
		return Files{}, err
	}
	if last := m.last.Load(); last != nil && last.head == head && last.name == name {
		return last.files, nil
	}
	entries, err := m.Repo.LsFiles(ctx, head, name+stateSuffix, name+resultsSuffix, name+iterationsSuffix)
	if err != nil {
		return Files{}, fmt.Errorf("read the records of %s: %w", name, err)
	}
	var files Files
	var ids []string
	var texts []*[]byte
	for _, e := range entries {
		if e.Path == name+iterationsSuffix {
			if err := m.readIterations(ctx, e, name, &files); err != nil {
				return Files{}, err
			}
			continue
		}
		if err := checkEntry(e); err != nil {
			return Files{}, err
		}
		text := &files.State
		if e.Path == name+resultsSuffix {
			text = &files.Results
		}
		ids, texts = append(ids, e.ID), append(texts, text)
	}
	objects, err := m.Repo.Cat(ctx, ids...)
	if err != nil {
		return Files{}, fmt.Errorf("read the records of %s: %w", name, err)
	}
	for i, o := range objects {
		*texts[i] = slices.Clip(o.Data)
	}
	m.last.Store(&reading{head, name, files})
	return files, nil
}

// Suffixes are what the names of a program's files and directories at the root of
// the branch end in.
func Suffixes() []string { return []string{iterationsSuffix, stateSuffix, resultsSuffix} }

// States returns the state files of all programs by name, as the memory branch
// has them. With a remote it is asked first.
func (m *Memory) States(ctx context.Context) (map[string][]byte, error) {
	head, err := m.Head(ctx)
	if err != nil || head == "" {
		return nil, err
	}
	root, err := m.list(ctx, head)
	if err != nil {
		return nil, err
	}
	return m.readStates(ctx, root, root.states())
}

// listing is the root of the memory branch, by name.
type listing map[string]git.TreeEntry

func (m *Memory) list(ctx context.Context, head string) (listing, error) {
	entries, err := m.Repo.LsRoot(ctx, head)
	if err != nil {
		return nil, fmt.Errorf("read the records: %w", err)
	}
	root := make(listing, len(entries))
	for _, e := range entries {
		root[e.Path] = e
	}
	return root, nil
}

// states names the programs that have one.
func (l listing) states() []string {
	var names []string
	for file := range l {
		if name, is := strings.CutSuffix(file, stateSuffix); is && checkName(name) == nil {
			names = append(names, name)
		}
	}
	return names
}

// readStates reads the state files of programs; what is no regular file is left out.
func (m *Memory) readStates(ctx context.Context, root listing, names []string) (map[string][]byte, error) {
	var found, ids []string
	for _, name := range names {
		if e := root[name+stateSuffix]; regular(e) {
			found, ids = append(found, name), append(ids, e.ID)
		}
	}
	texts, err := m.blobs(ctx, ids)
	states := make(map[string][]byte, len(ids))
	for i, name := range found {
		states[name] = texts[ids[i]]
	}
	return states, err
}

// blobs are the contents of files, by their ids.
func (m *Memory) blobs(ctx context.Context, ids []string) (map[string][]byte, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	texts := make(map[string][]byte, len(ids))
	err := m.Repo.CatEach(ctx, ids, func(i int, o git.Object) error {
		texts[ids[i]] = append([]byte{}, o.Data...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the records: %w", err)
	}
	return texts, nil
}

// regular reports whether an entry is a file. Anything else in place of a state or
// a ledger is an error of its program: it is not one that never ran.
func regular(e git.TreeEntry) bool { return e.Mode == git.ModeFile || e.Mode == git.ModeExecutable }

// checkName holds for what can be the beginning of a file's name at the
// branch's root.
func checkName(name string) error {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\\\x00\n") {
		return fmt.Errorf("%q is no name of a program", name)
	}
	return nil
}

func checkEntry(e git.TreeEntry) error {
	if !regular(e) {
		return fmt.Errorf("%s on branch %s is no regular file (mode %s); remove it there", e.Path, MemoryBranch, e.Mode)
	}
	if e.Size > MaxFile {
		return fmt.Errorf("%s on branch %s has %d bytes, more than %d; shorten it there", e.Path, MemoryBranch,
			e.Size, MaxFile)
	}
	return nil
}
