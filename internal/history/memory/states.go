package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/program"
)

// maxState is the size beyond which no state file is read.
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

	list listing // what the branch had when its states were read
	copy bool    // Dir is used
}

// Load reads the states of the named programs. Those without a state are not in the answer;
// failed says why one cannot be read.
func (s *States) Load(ctx context.Context, names []string) (found map[string][]byte, failed map[string]error,
	err error,
) {
	if info, err := os.Stat(s.Dir); err == nil && info.IsDir() {
		s.copy = true
	} else if s.Branch != nil {
		head, err := s.Branch.Head(ctx)
		if err != nil || head == "" {
			return nil, nil, err
		}
		if _, err := s.Branch.CheckSeen(ctx, head); err != nil {
			return nil, nil, err
		}
		if s.list, err = s.Branch.list(ctx, head); err != nil {
			return nil, nil, err
		}
	}
	found, failed, err = s.read(ctx, names)
	if s.copy {
		s.compare(ctx, found)
	}
	return found, failed, err
}

func (s *States) read(ctx context.Context, names []string) (found map[string][]byte, failed map[string]error,
	err error,
) {
	found, failed = map[string][]byte{}, map[string]error{}
	for _, name := range names {
		if e, exists := s.list[name+stateSuffix]; exists && !regular(e) {
			failed[name] = fmt.Errorf("it is no regular file there (mode %s); remove it, or put the state back", e.Mode)
		}
		if !s.copy {
			continue
		}
		text, err := files.ReadSmall(filepath.Join(s.Dir, name+stateSuffix), maxState)
		if err == nil {
			found[name] = text
		} else if !errors.Is(err, fs.ErrNotExist) {
			failed[name] = fmt.Errorf("read state of %s: %w", name, err)
		}
	}
	if s.list != nil {
		found, err = s.Branch.readStates(ctx, s.list, names)
	}
	return found, failed, err
}

// OnBranch reports, after Load, whether the states are from the branch.
func (s *States) OnBranch() bool { return !s.copy }

// Others is Load, after it, for programs that are not among these names: those of
// issues, and those that are gone. What cannot be read is left out.
func (s *States) Others(ctx context.Context, names []string) (map[string][]byte, error) {
	all := s.list.states()
	if s.copy {
		entries, err := os.ReadDir(s.Dir)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if name, is := strings.CutSuffix(entry.Name(), stateSuffix); is && entry.Type().IsRegular() &&
				checkName(name) == nil {
				all = append(all, name)
			}
		}
	}
	states, _, err := s.read(ctx, slices.DeleteFunc(all, func(name string) bool { return slices.Contains(names, name) }))
	return states, err
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
	var of Files
	if err := s.Branch.readIterations(ctx, entry, name, &of); err != nil {
		return nil, err
	}
	return of.Ledger, of.unreadable
}

// ledgerFiles reads a program's ledger from the copy.
func (s *States) ledgerFiles(name string) (*history.Log, error) {
	root := filepath.Join(s.Dir, name+iterationsSuffix)
	if _, err := os.Lstat(root); os.IsNotExist(err) {
		return nil, nil //nolint:nilnil // A program that never ran has none.
	}
	var list []*history.Iteration
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, _ fs.DirEntry, err error) error {
		if _, ours := numberOf(path); err != nil || !ours {
			return err
		}
		text, err := files.ReadSmall(filepath.Join(root, filepath.FromSlash(path)), MaxFile)
		if err != nil {
			return err
		}
		it, err := parseIteration(name, path, text)
		list = append(list, it)
		return err
	})
	if err != nil {
		return nil, err
	}
	return history.NewLog(list...)
}

// compare warns when one of the states of the copy is another than that of the branch here.
func (s *States) compare(ctx context.Context, states map[string][]byte) {
	if s.Branch == nil {
		return
	}
	here := Memory{Repo: s.Branch.Repo}
	head, err := here.Head(ctx)
	if err != nil || head == "" {
		return
	}
	branch, err := here.list(ctx, head)
	if err != nil {
		return
	}
	var differing []string
	for name, text := range states {
		if entry, exists := branch[name+stateSuffix]; exists &&
			entry.ID != git.BlobID(here.Repo.ObjectFormat, text) {
			differing = append(differing, name)
		}
	}
	if len(differing) > 0 {
		s.Warnings = append(s.Warnings,
			fmt.Sprintf("%s has another state of %s than branch %s (states that differ: %d): update the copy, or "+
				"remove it to read the branch", s.Dir, slices.Min(differing), MemoryBranch, len(differing)))
	}
}

// GoOn lets a program go on in the direction that its state says, and says why the
// state cannot be read; "" when it can be read, or the program has no state yet.
func GoOn(p *program.Program, states map[string][]byte) string {
	data, found := states[p.Name]
	machine, _, err := state.ParseMachine(data)
	if err == nil && machine.DirectionGiven {
		p.GoOn(machine.Direction)
	}
	if err == nil || !found {
		return ""
	}
	problem := program.Problem{File: MemoryBranch + ":" + p.Name + ".md", Message: err.Error()}
	if at, ok := errors.AsType[*state.Problem](err); ok {
		problem.Line = at.Line
	}
	return problem.String()
}
