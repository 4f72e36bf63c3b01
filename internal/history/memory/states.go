package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

// maxState is the size beyond which no more of a state file is read; the file
// is then refused for its size.
const maxState = 4 << 20

// States finds state files for scheduling: in a directory that the memory
// branch was checked out to when it exists, else on the branch.
type States struct {
	// Dir is the checked-out copy; it need not exist.
	Dir string
	// Branch is the memory branch; nil outside of a repository.
	Branch *Memory
	// Warnings are filled by Load: a copy that is behind the branch.
	Warnings []string
	// Unreadable is filled by Load: why the state of a program on the branch cannot
	// be read.
	Unreadable map[string]error

	list listing // what the branch had when its states were read
	copy bool    // Dir is used
}

// Load reads the states of the named programs. Programs without a state are not in the
// answer.
func (s *States) Load(ctx context.Context, names []string) (map[string][]byte, error) {
	info, err := os.Stat(s.Dir)
	if err == nil && info.IsDir() {
		s.copy = true
		states, err := s.loadFiles(names)
		s.compare(ctx, slices.Collect(maps.Keys(states)))
		return states, err
	}
	if s.Branch == nil {
		return nil, nil
	}
	head, err := s.Branch.Head(ctx)
	if err != nil || head == "" {
		return nil, err
	}
	if _, err := s.Branch.CheckSeen(ctx, head); err != nil {
		return nil, err
	}
	if s.list, err = s.Branch.list(ctx, head); err != nil {
		return nil, err
	}
	s.Unreadable = map[string]error{}
	var named []string
	for _, name := range names {
		e, exists := s.list[name+stateSuffix]
		if exists && !regular(e) {
			s.Unreadable[name] = fmt.Errorf("it is no regular file there (mode %s); remove it, or put the state back", e.Mode)
		} else if exists {
			named = append(named, name)
		}
	}
	return s.Branch.readStates(ctx, s.list, named)
}

// LoadEach is Load that finds out, where files of the checked-out copy cannot be
// read, whose they are, so that the other programs still run.
func (s *States) LoadEach(ctx context.Context, names []string) (found map[string][]byte, failed map[string]error, err error) {
	found, err = s.Load(ctx, names)
	if _, single := err.(interface{ Unwrap() []error }); err == nil || !single {
		return found, s.Unreadable, err
	}
	warnings := s.Warnings
	failed = map[string]error{}
	for _, name := range names {
		if _, read := found[name]; read {
			continue
		}
		if _, err := s.Load(ctx, []string{name}); err != nil {
			failed[name] = err
		}
	}
	s.Warnings = warnings
	return found, failed, nil
}

// OnBranch reports, after Load, whether the states are from the branch.
func (s *States) OnBranch() bool { return !s.copy }

// Others is Load, after it, for programs that are not among these names: those of
// issues, and those that are gone. What cannot be read is left out.
func (s *States) Others(ctx context.Context, names []string) (map[string][]byte, error) {
	known := make(map[string]bool, len(names))
	for _, name := range names {
		known[name] = true
	}
	if !s.copy {
		return s.Branch.readStates(ctx, s.list, slices.DeleteFunc(s.list.states(), func(name string) bool { return known[name] }))
	}
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil, err
	}
	var others []string
	for _, entry := range entries {
		name, is := strings.CutSuffix(entry.Name(), stateSuffix)
		if is && entry.Type().IsRegular() && checkName(name) == nil && !known[name] {
			others = append(others, name)
		}
	}
	states, _ := s.loadFiles(others) // what is left out has no say
	return states, nil
}

// loadFiles reads the copy.
func (s *States) loadFiles(names []string) (map[string][]byte, error) {
	states := make(map[string][]byte, len(names))
	var problems []error
	for _, name := range names {
		text, err := s.loadFile(name)
		switch {
		case err == nil:
			states[name] = text
		case !errors.Is(err, fs.ErrNotExist):
			problems = append(problems, err)
		}
	}
	return states, errors.Join(problems...)
}

// loadFile reads one file of the copy, as far as maxState.
func (s *States) loadFile(name string) ([]byte, error) {
	text, err := readSmall(filepath.Join(s.Dir, name+stateSuffix), maxState)
	if err != nil {
		return nil, fmt.Errorf("read state of %s: %w", name, err)
	}
	return text, nil
}

// Ledger reads one program's ledger from where its state is; nil when it has none.
func (s *States) Ledger(ctx context.Context, name string) (*history.Log, error) {
	if s.copy {
		return s.ledgerFiles(name)
	}
	entry, exists := s.list[name+iterationsSuffix]
	if !exists {
		return nil, nil //nolint:nilnil // A program that never ran has none.
	}
	var files Files
	if err := s.Branch.readIterations(ctx, entry, name, &files); err != nil {
		return nil, err
	}
	return files.Ledger, files.unreadable
}

// compare warns when the copy is a checkout of another commit than the branch's,
// or, without git, when one of its states is another than the branch's.
func (s *States) compare(ctx context.Context, names []string) {
	if s.Branch == nil {
		return
	}
	head, err := s.Branch.local(ctx)
	if err != nil || head == "" {
		return
	}
	at, err := git.HeadOf(ctx, s.Branch.Repo, s.Dir)
	if err != nil || at == head {
		return
	}
	const cure = "update the copy, or remove it to read the branch"
	if at != "" {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s is at %.12s and branch %s at %.12s: %s", s.Dir, at, MemoryBranch, head, cure))
		return
	}
	branch, err := s.Branch.list(ctx, head)
	if err != nil {
		return
	}
	differing := slices.DeleteFunc(names, func(name string) bool {
		entry, exists := branch[name+stateSuffix]
		data, err := s.loadFile(name)
		return !exists || err != nil || entry.ID == git.BlobID(s.Branch.Repo.ObjectFormat, data)
	})
	if len(differing) > 0 {
		first := slices.Min(differing)
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s has another state of %s than branch %s (states that differ: %d): %s", s.Dir, first, MemoryBranch, len(differing), cure))
	}
}
