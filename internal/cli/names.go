package cli

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
)

// programFile is the absolute path of the program file that a person means by a
// word: a path from where they are, else from the root; "" when no file has it.
func (a *App) programFile(word string) string {
	if !isPath(word) {
		return "" // a file of the repository may be called so too
	}
	for _, file := range []string{a.Path(word), filepath.Join(a.Checkout, word)} {
		info, err := os.Stat(file)
		if err == nil && info.IsDir() {
			file = filepath.Join(file, "program.md")
			info, err = os.Stat(file)
		}
		if err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}

func isPath(word string) bool {
	return strings.ContainsAny(word, `/\`) || strings.HasSuffix(word, ".md")
}

// nameOf is the name of the program that a person means by a name or by the path
// of a program file, which need not be there any more.
func (a *App) nameOf(word string) string {
	if file := a.programFile(word); file != "" {
		return a.source().File(file).Name
	}
	if !isPath(word) {
		return word
	}
	return strings.TrimSuffix(filepath.Base(strings.TrimSuffix(word, "/program.md")), ".md")
}

// findProgram reads the program that a person means by a name or a path, or nil.
func (a *App) findProgram(word string) (*program.Program, error) {
	if file := a.programFile(word); file != "" {
		return a.source().File(file), nil
	}
	return a.source().Find(word)
}

// isSuite reports whether a word of the command line is the directory of a skill, of its
// workspace or of a task suite: it is a directory, and no program has that name.
func (a *App) isSuite(ctx context.Context, word string) bool {
	if info, err := os.Stat(a.Path(word)); err != nil || !info.IsDir() {
		return false
	}
	if err := a.look(ctx); err != nil {
		return true
	}
	p, err := a.findProgram(word)
	return err == nil && p == nil
}

// meant is "; did you mean …?" for a name that no program has, among those of
// files and of records; "" when none is near.
func (a *App) meant(ctx context.Context, name string) string {
	all, _ := a.source().Load(false) // what cannot be read is not near
	states, _ := a.Memory.States(ctx)
	return schedule.DidYouMean(name, slices.AppendSeq(program.Names(all), maps.Keys(states)))
}

// onlyFor refuses flags that have no effect here.
func onlyFor(what string, cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return misuse.Errorf("--%s is for %s", name, what)
		}
	}
	return nil
}
