package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/program"
)

// uncommittedWork is what iterations do not see of a checkout, since they work on
// commits; program files are used as they stand.
type uncommittedWork struct{ files, programs []git.UncommittedFile }

// uncommitted looks at the checkout, or at some paths of it. What cannot be read counts
// as committed: this is help, and stops nothing. A checkout of Actions is as it was
// committed.
func (a *App) uncommitted(ctx context.Context, below ...string) (u uncommittedWork) {
	if a.Repo == nil || a.InActions() {
		return u
	}
	files, _ := a.Repo.Uncommitted(ctx, below...)
	source := a.source()
	for _, f := range files {
		if source.MayBe(f.Path) {
			u.programs = append(u.programs, f)
		} else {
			u.files = append(u.files, f)
		}
	}
	return u
}

// String names all that is not committed; "" for nothing.
func (u uncommittedWork) String() string {
	paths := make([]string, len(u.files))
	for i, f := range u.files {
		paths[i] = f.Path
	}
	return notSeen(paths)
}

// changedPrograms warns of program files that differ from their commit.
func (a *App) changedPrograms(ctx context.Context) []string {
	return a.uncommitted(ctx, a.source().Places()...).Programs()
}

// Programs are warnings of program files that differ from their commit.
func (u uncommittedWork) Programs() []string {
	var list []string
	for _, f := range u.programs {
		if !f.New {
			list = append(list, f.Path+" differs from its commit, and is used as it stands here")
		}
	}
	return list
}

// Of are warnings of what an iteration of a program looks at: its own file, changes of
// files that commits have, and new files that may change or that the evaluation names.
func (u uncommittedWork) Of(p *program.Program) []string {
	var changed, created []string
	for _, f := range u.files {
		if f.New {
			created = append(created, f.Path)
		} else {
			changed = append(changed, f.Path)
		}
	}
	own := uncommittedWork{programs: slices.DeleteFunc(slices.Clone(u.programs),
		func(f git.UncommittedFile) bool { return f.Path != p.File })}
	list := own.Programs()
	if text := notSeen(append(changed, p.Misses(created)...)); text != "" {
		list = append(list, text)
	}
	return list
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
