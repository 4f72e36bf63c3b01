// Package memory keeps what outlives a run: program files in a checkout, and
// each program's records on the branch memory/autoloop.
package memory

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/org/autoloop/internal/files"
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

// remembered are the iterations that were read last, by the ids of their files: most of them never change.
type remembered map[string]*history.Iteration

// root is the root of the memory branch, by name.
func (m *Memory) root(ctx context.Context, head string) (map[string]git.TreeEntry, error) {
	entries, err := m.Repo.LsFiles(ctx, head)
	if err != nil {
		return nil, fmt.Errorf("read the records: %w", err)
	}
	paths := make(map[string]git.TreeEntry, len(entries))
	for _, e := range entries {
		paths[e.Path] = e
	}
	return paths, nil
}

// maxFile is the size in bytes beyond which a file is refused instead of read.
const maxFile = 64 << 20

// regular reports whether an entry is a file. Anything else in place of a state or
// a ledger is an error of its program: it is not one that never ran.
func regular(e git.TreeEntry) bool {
	return (e.Mode == git.ModeFile || e.Mode == git.ModeExecutable) && e.Size <= maxFile
}

// states reads the state files of all programs; failed says why one cannot be read.
func (m *Memory) states(ctx context.Context, root map[string]git.TreeEntry) (
	texts map[string][]byte, failed map[string]error, err error,
) {
	texts, failed = map[string][]byte{}, map[string]error{}
	var names, ids []string
	for path, e := range root {
		name, is := strings.CutSuffix(path, stateSuffix)
		switch {
		case !is || checkName(name) != nil:
		case regular(e):
			names, ids = append(names, name), append(ids, e.ID)
		default:
			failed[name] = fmt.Errorf("it is no regular file there (mode %s); remove it, or put the state back", e.Mode)
		}
	}
	objects, err := m.Repo.Cat(ctx, ids...)
	for i, o := range objects {
		texts[names[i]] = o.Data
	}
	return texts, failed, err
}

// The ledger of a program is a directory beside its other files, with a file for each
// iteration and a directory for each thousand: NAME.iterations/000/000123.json. In one
// directory of thousands of files every commit would write a long list anew.
const iterationsSuffix = ".iterations"

// iterationPath is where the file of an iteration is in the directory.
func iterationPath(number int) string { return fmt.Sprintf("%03d/%06d.json", number/1000, number) }

var numbered = regexp.MustCompile(`^[0-9]{3,}/0*([0-9]{1,9})\.json$`)

// numberOf is the iteration that a path in the directory is of; others are not ours.
func numberOf(path string) (number int, ours bool) {
	if match := numbered.FindStringSubmatch(path); match != nil {
		number, _ = strconv.Atoi(match[1])
		ours = path == iterationPath(number)
	}
	return number, ours
}

// readLedger reads the ledger of a program in its directory.
func (m *Memory) readLedger(ctx context.Context, dir git.TreeEntry, name string) (*history.Log, error) {
	if dir.Mode != git.ModeDirectory {
		return nil, &LedgerError{name, "", "it is no directory"}
	}
	entries, err := m.Repo.LsTree(ctx, dir.ID)
	if err != nil {
		return nil, fmt.Errorf("read the ledger of %s: %w", name, err)
	}
	known := remembered{}
	if last := m.known.Load(); last != nil {
		known = *last
	}
	var ours []git.TreeEntry
	var wanted []string
	for _, e := range entries {
		if _, is := numberOf(e.Path); !is {
			continue
		}
		if !regular(e) {
			return nil, &LedgerError{name, e.Path, fmt.Sprintf("it is no regular file (mode %s)", e.Mode)}
		}
		if ours = append(ours, e); known[e.ID] == nil {
			wanted = append(wanted, e.ID)
		}
	}
	objects, err := m.Repo.Cat(ctx, wanted...)
	if err != nil {
		return nil, fmt.Errorf("read the ledger of %s: %w", name, err)
	}
	now, list := make(remembered, len(ours)), make([]*history.Iteration, len(ours))
	for i, e := range ours {
		it := known[e.ID]
		if it == nil {
			it, err = history.ParseIteration(objects[0].Data)
			objects = objects[1:]
			if number, _ := numberOf(e.Path); err == nil && it.Number != number {
				err = fmt.Errorf("it says that it is iteration %d", it.Number)
			}
			if err != nil {
				return nil, &LedgerError{name, e.Path, err.Error()}
			}
		}
		now[e.ID], list[i] = it, it
	}
	m.known.Store(&now)
	return history.NewLog(list...)
}

// LedgerError says why a file of a ledger cannot be read.
type LedgerError struct{ Program, Path, Problem string }

func (e *LedgerError) Error() string {
	return fmt.Sprintf("read %s%s/%s on the memory branch: %s", e.Program, iterationsSuffix, e.Path, e.Problem)
}

// States are the state files of all programs for scheduling: of a directory to which they were
// copied when it exists, else of the memory branch. The ledgers are the branch's.
type States struct {
	// Dir is the copy; it need not exist.
	Dir string
	// Branch is the memory branch; nil outside of a repository.
	Branch *Memory

	// Texts are the states by their programs' names, Failed says why one cannot be read.
	Texts  map[string][]byte
	Failed map[string]error
	// Copied says that they are of Dir; Warnings that it is behind the branch.
	Copied   bool
	Warnings []string

	files map[string]git.TreeEntry
}

// Load reads the states.
func (s *States) Load(ctx context.Context) (err error) {
	if entries, err := os.ReadDir(s.Dir); err == nil {
		s.readCopy(entries)
		if s.Branch != nil {
			s.files, _ = s.Branch.root(ctx, memoryRef) // none where there is no branch
			s.compare()
		}
		return nil
	}
	if s.Branch == nil {
		return nil
	}
	head, err := s.Branch.Head(ctx)
	if err != nil || head == "" {
		return err
	}
	if _, err = s.Branch.CheckSeen(ctx, head); err != nil {
		return err
	}
	if s.files, err = s.Branch.root(ctx, head); err == nil {
		s.Texts, s.Failed, err = s.Branch.states(ctx, s.files)
	}
	return err
}

// readCopy reads the states of the directory.
func (s *States) readCopy(entries []os.DirEntry) {
	s.Copied, s.Texts, s.Failed = true, map[string][]byte{}, map[string]error{}
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), stateSuffix)
		if !is || checkName(name) != nil {
			continue
		}
		if text, err := files.ReadSmall(filepath.Join(s.Dir, e.Name()), maxFile); err != nil {
			s.Failed[name] = err
		} else {
			s.Texts[name] = text
		}
	}
}

// Ledger reads one program's ledger; nil when it has none.
func (s *States) Ledger(ctx context.Context, name string) (*history.Log, error) {
	entry, exists := s.files[name+iterationsSuffix]
	if !exists {
		return nil, nil //nolint:nilnil // A program that never ran has none.
	}
	return s.Branch.readLedger(ctx, entry, name)
}

// compare warns when one of the states of the copy is another than that of the branch here.
func (s *States) compare() {
	var differing []string
	for name, text := range s.Texts {
		if entry, exists := s.files[name+stateSuffix]; exists &&
			entry.ID != git.BlobID(s.Branch.Repo.ObjectFormat, text) {
			differing = append(differing, name)
		}
	}
	if len(differing) > 0 {
		s.Warnings = append(s.Warnings,
			fmt.Sprintf("%s has another state of %s than branch %s (states that differ: %d): update the copy, or "+
				"remove it to read the branch", s.Dir, slices.Min(differing), MemoryBranch, len(differing)))
	}
}
