package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
)

// programFile is the absolute path of the program file that a person means by a
// word: a path from where they are, else from the root; "" when no file has it.
func programFile(env Env, root, word string) string {
	if !isPath(word) {
		return "" // a file of the repository may be called so too
	}
	for _, file := range []string{env.Path(word), filepath.Join(root, word)} {
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

// NameOf is the name of the program that a person means by a name or by the path
// of a program file, which need not be there any more.
func (d *dependencies) NameOf(word string) string {
	if !isPath(word) {
		return word
	}
	if file := programFile(d.Env, d.Repo.Root, word); file != "" {
		return d.Source().File(file).Name
	}
	return strings.TrimSuffix(filepath.Base(strings.TrimSuffix(word, "/program.md")), ".md")
}

// Meant is "; did you mean …?" for a name that no program has, among those of
// files and of records; "" when none is near.
func (d *dependencies) Meant(ctx context.Context, name string) string {
	var names []string
	if all, err := d.Source().Load(false); err == nil {
		names = program.Names(all)
	}
	if states, err := d.Memory.States(ctx); err == nil {
		names = slices.AppendSeq(names, maps.Keys(states))
	}
	return didYouMean(name, names)
}

// didYouMean is "; did you mean …?" with the name that is nearest; "" when none is.
func didYouMean(name string, names []string) string {
	slices.Sort(names)
	stem := strings.TrimSuffix(filepath.Base(name), ".md")
	if meant := schedule.Nearest(stem, slices.Compact(names)); meant != "" && meant != name {
		return fmt.Sprintf("; did you mean %q?", meant)
	}
	return ""
}

// findProgram reads the program that a person means by a name or a path,
// or nil.
func findProgram(env Env, source memory.Programs, word string) (*program.Program, error) {
	if file := programFile(env, source.Root, word); file != "" {
		return source.File(file), nil
	}
	return source.Find(word)
}
