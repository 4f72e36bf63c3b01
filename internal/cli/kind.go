package cli

import (
	"context"
	"os"

	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/misuse"
)

// isSuite reports whether a word of the command line is the directory of a skill, of its
// workspace or of a task suite: it is a directory, and no program has that name.
func isSuite(ctx context.Context, env Env, o Options, word string) bool {
	if info, err := os.Stat(env.Path(word)); err != nil || !info.IsDir() {
		return false
	}
	root, _, err := findCheckout(ctx, env, o.RepoDir)
	if err != nil {
		return true
	}
	p, err := findProgram(env, memory.Programs{Root: root, Dir: o.Programs}, word)
	return err == nil && p == nil
}

// onlyFor refuses flags that have no effect here.
func onlyFor(what string, changed func(string) bool, names ...string) error {
	for _, name := range names {
		if changed(name) {
			return misuse.Errorf("--%s is for %s", name, what)
		}
	}
	return nil
}
