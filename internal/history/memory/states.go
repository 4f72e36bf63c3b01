package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
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
	// Sizes are filled by Load and Others: how long the whole files are.
	Sizes map[string]int
	// Meanwhile is called after each state of the branch, while git gets the next
	// ones ready; nil does nothing.
	Meanwhile func()

	list listing // what the branch had when its states were read
	copy bool    // Dir is used
}

// Load reads the states of the named programs as far as choosing among them looks at
// them: their state.Head. Those of thousands of programs would not fit into memory
// together. Programs without a state are not in the answer.
func (s *States) Load(ctx context.Context, names []string) (map[string][]byte, error) {
	if s.Sizes == nil {
		s.Sizes = make(map[string]int, len(names))
	}
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
	if s.list, err = s.Branch.list(ctx, head); err != nil {
		return nil, err
	}
	s.Unreadable = map[string]error{}
	named := make([]stateEntry, 0, len(names))
	for _, name := range names {
		e, exists := s.list.find(name + stateSuffix)
		if exists && !regular(e) {
			s.Unreadable[name] = fmt.Errorf("it is no regular file there (mode %s); remove it, or put the state back", e.Mode)
		} else if exists {
			named = append(named, stateEntry{name, e})
		}
	}
	return s.readHeads(ctx, named)
}

func (s *States) readHeads(ctx context.Context, found []stateEntry) (map[string][]byte, error) {
	heads := make(map[string][]byte, len(found))
	if len(found) == 0 {
		return heads, nil
	}
	return heads, s.Branch.readStates(ctx, found, func(name string, data []byte) {
		heads[name], s.Sizes[name] = bytes.Clone(state.Head(data)), len(data)
		if s.Meanwhile != nil {
			s.Meanwhile()
		}
	})
}

// Whole reads one of the states that Load or Others found, all of it.
func (s *States) Whole(ctx context.Context, name string) ([]byte, error) {
	if s.copy {
		return s.loadFile(name, new([]byte))
	}
	entry, _ := s.list.find(name + stateSuffix)
	objects, err := s.Branch.Repo.Cat(ctx, entry.ID)
	if err != nil {
		return nil, fmt.Errorf("read state of %s: %w", name, err)
	}
	return objects[0].Data, nil
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
		others := slices.DeleteFunc(s.list.states(), func(s stateEntry) bool { return known[s.program] })
		return s.readHeads(ctx, others)
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

// loadFiles reads the copy, several files at a time.
func (s *States) loadFiles(names []string) (map[string][]byte, error) {
	const workers = 4
	heads, sizes := make([][]byte, len(names)), make([]int, len(names))
	problems := make([]error, workers)
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			var buffer []byte
			for i := worker; i < len(names); i += workers {
				text, err := s.loadFile(names[i], &buffer)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					problems[worker] = err
				}
				if text != nil {
					heads[i], sizes[i] = bytes.Clone(state.Head(text)), len(text)
				}
			}
		})
	}
	group.Wait()
	states := make(map[string][]byte, len(names))
	for i, name := range names {
		if heads[i] != nil {
			states[name], s.Sizes[name] = heads[i], sizes[i]
		}
	}
	return states, errors.Join(problems...)
}

// loadFile reads one file of the copy, as far as maxState.
func (s *States) loadFile(name string, buffer *[]byte) ([]byte, error) {
	text, err := readSmall(filepath.Join(s.Dir, name+stateSuffix), buffer, maxState)
	if err != nil {
		return nil, fmt.Errorf("read state of %s: %w", name, err)
	}
	return text, nil
}

// Ledger reads one program's ledger from where its state is, with the checkpoint of
// what is sealed; nil when it has none.
func (s *States) Ledger(ctx context.Context, name string) (*history.Log, error) {
	if s.copy {
		return s.ledgerFile(name)
	}
	entry, exists := s.list.find(name + ledgerSuffix)
	switch {
	case !exists:
		return nil, nil //nolint:nilnil // A program that never ran has none.
	case !regular(entry):
		return nil, fmt.Errorf("it is no regular file there (mode %s); remove it, or put the ledger back", entry.Mode)
	}
	objects, err := s.Branch.Repo.Cat(ctx, entry.ID)
	if err != nil {
		return nil, err
	}
	files := Files{Ledger: objects[0].Data}
	if history.Sealed(files.Ledger) {
		sealed, _ := s.list.find(name + sealedSuffix)
		if sealed.Mode != git.ModeDirectory {
			sealed.ID = ""
		}
		if files.Sealed, err = s.Branch.readSealed(ctx, sealed.ID, name, files.Ledger); err != nil {
			return nil, err
		}
	}
	return files.Log()
}

// ledgerFile is Ledger in a checked-out copy.
func (s *States) ledgerFile(name string) (*history.Log, error) {
	data, err := s.readRegular(name + ledgerSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // A program that never ran has none.
	}
	if err != nil || !history.Sealed(data) {
		return parsed(data, err)
	}
	checkpoint := &history.Checkpoint{}
	stored, err := s.readRegular(name+sealedSuffix, checkpointFile)
	if err == nil {
		checkpoint, err = history.DecodeCheckpoint(stored)
	}
	if err == nil && checkpoint.CheckOpen(data) == nil {
		return history.Open(checkpoint, data)
	}
	checkpoint = &history.Checkpoint{}
	if text, err := s.readRegular(name+sealedSuffix, archiveFile); err == nil {
		archive, err := history.DecodeArchive(text)
		if err != nil {
			return nil, err
		}
		checkpoint = archive.Sum
	}
	for number := checkpoint.Segments + 1; number <= history.Before(data); number++ {
		segment, err := s.readRegular(name+sealedSuffix, fmt.Sprintf(segmentForm, number))
		if errors.Is(err, fs.ErrNotExist) {
			segment, err = s.readRegular(name+sealedSuffix, fmt.Sprintf(numbersForm, number))
		}
		if err == nil {
			checkpoint, err = checkpoint.Extend(segment)
		}
		if err != nil {
			return nil, err
		}
	}
	return history.Open(checkpoint, data)
}

// readRegular reads a file of the copy that the branch would let through too: a link may
// lead anywhere, also to a file without an end.
func (s *States) readRegular(parts ...string) ([]byte, error) {
	file := filepath.Join(s.Dir, filepath.Join(parts...))
	info, err := os.Lstat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file; remove it, or put the ledger back", file)
	case info.Size() > MaxFile:
		return nil, fmt.Errorf("%s has %d bytes, more than %d; shorten it", file, info.Size(), MaxFile)
	}
	return os.ReadFile(file)
}

func parsed(data []byte, err error) (*history.Log, error) {
	if err != nil {
		return nil, err
	}
	return history.Parse(data)
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
	var buffer []byte
	differing := slices.DeleteFunc(names, func(name string) bool {
		entry, exists := branch.find(name + stateSuffix)
		data, err := s.loadFile(name, &buffer)
		return !exists || err != nil || entry.ID == git.BlobID(s.Branch.Repo.ObjectFormat, data)
	})
	if len(differing) > 0 {
		first := slices.Min(differing)
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s has another state of %s than branch %s (states that differ: %d): %s", s.Dir, first, MemoryBranch, len(differing), cure))
	}
}
