package memory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/program"
)

// States are the state files of all programs for scheduling: of a directory that the memory
// branch was checked out to when it exists, else of the branch.
type States struct {
	// Dir is the checked-out copy; it need not exist.
	Dir string
	// Branch is the memory branch; nil outside of a repository.
	Branch *Memory

	// Texts are the states by their programs' names, Failed says why one cannot be read.
	Texts  map[string][]byte
	Failed map[string]error
	// Copied says that they are of Dir; Warnings that it is behind the branch.
	Copied   bool
	Warnings []string

	tree
	files map[string]git.TreeEntry
}

// Load reads the states.
func (s *States) Load(ctx context.Context) (err error) {
	if info, err := os.Stat(s.Dir); err == nil && info.IsDir() {
		s.Copied = true
		s.tree, s.files, err = copied(s.Dir)
		if err != nil {
			return err
		}
	} else if s.Branch != nil {
		head, err := s.Branch.Head(ctx)
		if err != nil || head == "" {
			return err
		}
		if _, err := s.Branch.CheckSeen(ctx, head); err != nil {
			return err
		}
		s.tree = s.Branch.tree()
		if s.files, err = s.Branch.root(ctx, head); err != nil {
			return err
		}
	} else {
		return nil
	}
	s.Texts, s.Failed, err = s.states(ctx, s.files)
	if s.Copied && s.Branch != nil {
		s.compare(ctx)
	}
	return err
}

// Ledger reads one program's ledger from where its state is; nil when it has none.
func (s *States) Ledger(ctx context.Context, name string) (*history.Log, error) {
	entry, exists := s.files[name+iterationsSuffix]
	if !exists {
		return nil, nil //nolint:nilnil // A program that never ran has none.
	}
	return s.readLedger(ctx, entry, name)
}

// compare warns when one of the states of the copy is another than that of the branch here.
func (s *States) compare(ctx context.Context) {
	branch, _ := s.Branch.root(ctx, memoryRef) // none where there is no branch
	var differing []string
	for name, text := range s.Texts {
		if entry, exists := branch[name+stateSuffix]; exists &&
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
