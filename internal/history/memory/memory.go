// Package memory keeps what outlives a run: program files in a checkout, and
// each program's records on the branch memory/autoloop.
package memory

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

// MemoryBranch is the orphan branch that holds the records at its root.
const MemoryBranch = "memory/autoloop"

const memoryRef = "refs/heads/" + MemoryBranch

// Files are the files of a program; nil is one that is not there.
type Files struct {
	State, Results []byte
	// Ledger is what was recorded.
	Ledger *history.Log
}

// The endings of the names of a program's files.
const (
	stateSuffix   = ".md"
	resultsSuffix = ".results.tsv"
)

// named are what the files and directories of a program at the root of the branch are called.
func named(program string) []string {
	return []string{program + iterationsSuffix, program + stateSuffix, program + resultsSuffix}
}

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

// HeadOf is Head for the branch of a program; ref is its full name. A
// local branch that the remote had once and has no more does not count.
func (m *Memory) HeadOf(ctx context.Context, ref string) (string, error) {
	stands, err := m.stand(ctx, memoryRef, ref)
	if err != nil {
		return "", err
	}
	return stands[1].head, nil
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

// At returns a program's files as they were at a commit of the memory branch, none when that is "". The
// error is a *LedgerError when the ledger cannot be read.
func (m *Memory) At(ctx context.Context, head, name string) (files Files, err error) {
	if err := checkName(name); err != nil || head == "" {
		return Files{}, err
	}
	if last := m.last.Load(); last != nil && last.head == head && last.name == name {
		return last.files, nil
	}
	entries, err := m.Repo.LsFiles(ctx, head, named(name)...)
	if err != nil {
		return Files{}, fmt.Errorf("read the records of %s: %w", name, err)
	}
	texts := map[string]*[]byte{name + stateSuffix: &files.State, name + resultsSuffix: &files.Results}
	for _, e := range entries {
		text, is := texts[e.Path]
		switch {
		case !is:
			files.Ledger, err = m.readLedger(ctx, e, name)
		case regular(e):
			var objects []git.Object
			if objects, err = m.Repo.Cat(ctx, e.ID); err == nil {
				*text = objects[0].Data
			}
		default:
			err = fmt.Errorf(
				"%s on branch %s is no regular file (mode %s) of at most %d bytes; remove it there",
				e.Path,
				MemoryBranch,
				e.Mode,
				maxFile,
			)
		}
		if err != nil {
			return Files{}, err
		}
	}
	m.last.Store(&reading{head, name, files})
	return files, nil
}

// Same reports whether two commits of the memory branch have the same records of a program.
func (m *Memory) Same(ctx context.Context, a, b, name string) (bool, error) {
	for _, path := range named(name) {
		objects, err := m.Repo.Cat(ctx, a+":"+path, b+":"+path)
		if err != nil || objects[0].ID != objects[1].ID {
			return false, err
		}
	}
	return true, nil
}

// States returns the state files of all programs by name, as the memory branch
// has them; what is no regular file is left out. With a remote it is asked first.
func (m *Memory) States(ctx context.Context) (map[string][]byte, error) {
	head, err := m.Head(ctx)
	if err != nil || head == "" {
		return nil, err
	}
	root, err := m.root(ctx, head)
	if err != nil {
		return nil, err
	}
	texts, _, err := m.states(ctx, root)
	return texts, err
}

// checkName holds for what can be the beginning of a file's name at the
// branch's root.
func checkName(name string) error {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\\\x00\n") {
		return fmt.Errorf("%q is no name of a program", name)
	}
	return nil
}
