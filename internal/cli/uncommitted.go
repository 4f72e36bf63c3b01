package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
)

// uncommittedWork is what iterations do not see of a checkout, since they work on
// commits: changed and created files. Program files are used as they stand; differing are
// those that have a commit.
type uncommittedWork struct{ changed, created, differing []string }

// uncommitted looks at the checkout, or at some paths of it. What cannot be read counts
// as committed: this is help, and stops nothing. A checkout of Actions is as it was
// committed.
func (a *App) uncommitted(ctx context.Context, below ...string) (u uncommittedWork) {
	if a.Repo == nil || a.InActions() {
		return u
	}
	files, _ := a.Repo.Uncommitted(ctx, below...)
	for _, f := range files {
		switch ours := a.source().MayBe(f.Path); {
		case ours && !f.New:
			u.differing = append(u.differing, f.Path)
		case ours:
		case f.New:
			u.created = append(u.created, f.Path)
		default:
			u.changed = append(u.changed, f.Path)
		}
	}
	return u
}

// Files is a warning of all files that are not committed.
func (u uncommittedWork) Files() []string { return notSeen(slices.Concat(u.changed, u.created)) }

// changedPrograms warns of program files that differ from their commit.
func (a *App) changedPrograms(ctx context.Context) []string {
	return lists.Map(a.uncommitted(ctx, a.source().Places()...).differing, differs)
}

func differs(file string) string {
	return file + " differs from its commit, and is used as it stands here"
}

// Of are warnings of what an iteration of a program looks at: its own file, changes of
// files that commits have, and new files that may change or that the evaluation names.
func (u uncommittedWork) Of(p *program.Program) (list []string) {
	if slices.Contains(u.differing, p.File) {
		list = append(list, differs(p.File))
	}
	return append(list, notSeen(slices.Concat(u.changed, p.Misses(u.created)))...)
}

func notSeen(paths []string) []string {
	if len(paths) == 0 {
		return nil
	}
	verb, them := "are", "them"
	if len(paths) == 1 {
		verb, them = "is", "it"
	}
	return []string{fmt.Sprintf("%s %s not committed, so iterations do not see %s", plain.Paths(paths, maxListed),
		verb, them)}
}
