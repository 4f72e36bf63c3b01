// Package memory keeps what outlives a run: program files in a checkout, and
// each program's records on the branch memory/autoloop.
package memory

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/org/autoloop/internal/git"
)

// MemoryBranch is the orphan branch that holds the records at its root.
const MemoryBranch = "memory/autoloop"

const memoryRef = "refs/heads/" + MemoryBranch

// MaxFile is the size in bytes beyond which a file of the records is refused
// instead of read.
const MaxFile = 64 << 20

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
// the local branches follow it. It keeps no state and is safe for concurrent
// use, also by other processes.
type Memory struct {
	Repo *git.Repo
	// Remote names the remote to share with; "" keeps everything local.
	Remote string
	// Now gives commits their time.
	Now func() time.Time
}

// Head returns the commit that the memory branch is at, "" when there is none
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
	var ids []string
	for _, e := range entries {
		if err := checkEntry(e); err != nil {
			return Files{}, err
		}
		ids = append(ids, e.ID)
	}
	objects, err := m.Repo.Cat(ctx, ids...)
	if err != nil {
		return Files{}, fmt.Errorf("read the records of %s: %w", name, err)
	}
	var files Files
	for i, e := range entries {
		switch strings.TrimPrefix(e.Path, name) {
		case stateSuffix:
			files.State = objects[i].Data
		case resultsSuffix:
			files.Results = objects[i].Data
		case ledgerSuffix:
			files.Ledger = objects[i].Data
		}
	}
	return files, nil
}

// States returns the state files of all programs by name, as the memory branch
// has them, and its commit. With a remote it is asked first.
func (m *Memory) States(ctx context.Context) (states map[string][]byte, head string, err error) {
	if head, err = m.Head(ctx); err != nil || head == "" {
		return nil, head, err
	}
	entries, err := m.Repo.LsRoot(ctx, head)
	if err != nil {
		return nil, "", fmt.Errorf("read the records: %w", err)
	}
	var names, ids []string
	for _, e := range entries {
		name, isState := strings.CutSuffix(e.Path, stateSuffix)
		if !isState || checkName(name) != nil || e.Type != "blob" || e.Mode != git.ModeFile && e.Mode != git.ModeExecutable {
			continue
		}
		names, ids = append(names, name), append(ids, e.ID)
	}
	objects, err := m.Repo.Cat(ctx, ids...)
	if err != nil {
		return nil, "", fmt.Errorf("read the records: %w", err)
	}
	states = make(map[string][]byte, len(names))
	for i, name := range names {
		states[name] = objects[i].Data
	}
	return states, head, nil
}

// NoFiles says why a state cannot be read, by program: an entry of its name on
// the branch is no regular file. Such a program is not one that never ran.
func (m *Memory) NoFiles(ctx context.Context, head string) (map[string]error, error) {
	if head == "" {
		return nil, nil
	}
	entries, err := m.Repo.LsRoot(ctx, head)
	if err != nil {
		return nil, fmt.Errorf("read the records: %w", err)
	}
	failed := map[string]error{}
	for _, e := range entries {
		name, isState := strings.CutSuffix(e.Path, stateSuffix)
		if isState && checkName(name) == nil && e.Mode != git.ModeFile && e.Mode != git.ModeExecutable {
			failed[name] = fmt.Errorf("it is no regular file there (mode %s); remove it, or put the state back", e.Mode)
		}
	}
	return failed, nil
}

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
