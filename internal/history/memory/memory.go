// Package memory keeps what outlives a run: program files in a checkout, and
// each program's records on the branch memory/autoloop.
package memory

import (
	"bytes"
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
	// Ledger is the open segment of the ledger: all of it until segments are sealed.
	Ledger []byte
	// Sealed are the sealed segments before it, if any. What an
	// Update's Apply returns need not have it.
	Sealed *Sealed
}

// The endings of the three files' names.
const (
	stateSuffix   = ".md"
	resultsSuffix = ".results.tsv"
	ledgerSuffix  = ".jsonl"
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

	// table is the results table that was read last, which grows with every iteration: it
	// is read again only when it is another.
	table atomic.Pointer[git.Object]
}

// Head returns the commit that the memory branch is at, or ""
// yet. With a remote it is asked; without one, what was last fetched from
// origin counts when the local branch has nothing beyond it.
func (m *Memory) Head(ctx context.Context) (string, error) {
	return m.HeadOf(ctx, memoryRef)
}

// HeadOf is Head for any branch that Autoloop writes; ref is its full name. A
// local branch that the remote had once and has no more does not count.
func (m *Memory) HeadOf(ctx context.Context, ref string) (string, error) {
	if ref == memoryRef {
		stands, err := m.stand(ctx, ref)
		if err != nil {
			return "", err
		}
		return stands[0].head, nil
	}
	stands, err := m.stand(ctx, memoryRef, ref)
	if err != nil {
		return "", err
	}
	unfinished, err := m.unfinished(ctx, stands[0])
	if err == nil && unfinished != nil && unfinished.Ref == ref {
		return unfinished.New, nil
	}
	return stands[1].head, err
}

// Read returns a program's files and the commit that they are from, "" when
// there is no memory branch yet. With a remote it is asked first.
func (m *Memory) Read(ctx context.Context, name string) (files Files, head string, err error) {
	if head, err = m.Head(ctx); err != nil {
		return Files{}, "", err
	}
	files, err = m.read(ctx, head, name)
	return files, head, err
}

// read returns a program's files at a commit, none when that is "".
func (m *Memory) read(ctx context.Context, head, name string) (Files, error) {
	if err := checkName(name); err != nil || head == "" {
		return Files{}, err
	}
	entries, err := m.Repo.LsFiles(ctx, head, name+stateSuffix, name+resultsSuffix, name+ledgerSuffix)
	if err != nil {
		return Files{}, fmt.Errorf("read the records of %s: %w", name, err)
	}
	var files Files
	for _, e := range entries {
		if err := checkEntry(e); err != nil {
			return Files{}, err
		}
		data, err := m.file(ctx, e)
		if err != nil {
			return Files{}, fmt.Errorf("read the records of %s: %w", name, err)
		}
		switch strings.TrimPrefix(e.Path, name) {
		case stateSuffix:
			files.State = data
		case resultsSuffix:
			files.Results = data
		case ledgerSuffix:
			files.Ledger = data
		}
	}
	if history.Sealed(files.Ledger) {
		tree, err := m.sealedTree(ctx, head, name)
		if err != nil {
			return files, err
		}
		files.Sealed, err = m.readSealed(ctx, tree, name, files.Ledger)
		return files, err
	}
	return files, err
}

// file reads one file, which is not to be changed.
func (m *Memory) file(ctx context.Context, e git.Sized) ([]byte, error) {
	isTable := strings.HasSuffix(e.Path, resultsSuffix)
	if known := m.table.Load(); isTable && known != nil && known.ID == e.ID {
		return known.Data, nil
	}
	objects, err := m.Repo.Cat(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	if isTable && !objects[0].Missing() {
		m.table.Store(&objects[0])
	}
	return objects[0].Data, nil
}

// At returns a program's files as they were at a commit of the memory branch.
func (m *Memory) At(ctx context.Context, commit, name string) (Files, error) {
	return m.read(ctx, commit, name)
}

// Suffixes are what the names of a program's files and directories at the root of
// the branch end in.
func Suffixes() []string { return []string{ledgerSuffix, stateSuffix, resultsSuffix, sealedSuffix} }

// States returns the state files of all programs by name, as the memory branch
// has them, and its commit. With a remote it is asked first.
func (m *Memory) States(ctx context.Context) (states map[string][]byte, head string, err error) {
	if head, err = m.Head(ctx); err != nil || head == "" {
		return nil, head, err
	}
	root, err := m.list(ctx, head)
	if err != nil {
		return nil, "", err
	}
	found := root.states()
	states = make(map[string][]byte, len(found))
	err = m.readStates(ctx, found, func(name string, data []byte) { states[name] = bytes.Clone(data) })
	return states, head, err
}

// readStates hands over the data of state files, each until visit returns; what is no
// regular file is left out.
func (m *Memory) readStates(ctx context.Context, found []stateEntry, visit func(name string, data []byte)) error {
	found = slices.DeleteFunc(found, func(s stateEntry) bool { return !regular(s.TreeEntry) })
	ids := make([]string, len(found))
	for i, s := range found {
		ids[i] = s.ID
	}
	err := m.Repo.CatEach(ctx, ids, func(i int, o git.Object) error {
		visit(found[i].program, o.Data)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the records: %w", err)
	}
	return nil
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

func checkEntry(e git.Sized) error {
	if e.Mode != git.ModeFile && e.Mode != git.ModeExecutable {
		return fmt.Errorf("%s on branch %s is no regular file (mode %s); remove it there", e.Path, MemoryBranch, e.Mode)
	}
	if e.Size > MaxFile {
		return fmt.Errorf("%s on branch %s has %d bytes, more than %d; shorten it there", e.Path, MemoryBranch, e.Size, MaxFile)
	}
	return nil
}
