package app

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/program"
)

// Uncommitted is what iterations do not see of a checkout, since they work on
// commits.
type Uncommitted struct{ files []git.UncommittedFile }

// FindUncommitted looks at the checkout of a repository; nil for none. Program
// files, which are read as they stand, are left out. What cannot be read counts
// as committed: this is help, and stops nothing.
func FindUncommitted(ctx context.Context, repo *git.Repo, programs string) Uncommitted {
	if repo == nil {
		return Uncommitted{}
	}
	files, err := repo.Uncommitted(ctx)
	if err != nil {
		return Uncommitted{}
	}
	dir, err := filepath.Rel(repo.Root, memory.Programs{Root: repo.Root, Dir: programs}.Directory())
	if err != nil {
		return Uncommitted{files}
	}
	prefix := filepath.ToSlash(dir) + "/"
	return Uncommitted{slices.DeleteFunc(files, func(f git.UncommittedFile) bool {
		return strings.HasPrefix(f.Path, prefix) && strings.HasSuffix(f.Path, ".md")
	})}
}

// String names all that is not committed; "" for nothing.
func (u Uncommitted) String() string {
	paths := make([]string, len(u.files))
	for i, f := range u.files {
		paths[i] = f.Path
	}
	return notSeen(paths)
}

// Of names what an iteration of a program would look at: changes of files that
// commits have, and new files that may change or that the evaluation names; ""
// for nothing.
func (u Uncommitted) Of(p *program.Program) string {
	var changed, created []string
	for _, f := range u.files {
		switch {
		case f.New:
			created = append(created, f.Path)
		case f.Path != p.File:
			changed = append(changed, f.Path)
		}
	}
	return notSeen(append(changed, p.Misses(created)...))
}

func notSeen(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	verb, them := "are", "them"
	if len(paths) == 1 {
		verb, them = "is", "it"
	}
	return fmt.Sprintf("%s %s not committed, so iterations do not see %s", listed(paths), verb, them)
}
