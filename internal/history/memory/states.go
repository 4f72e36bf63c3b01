package memory

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

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
