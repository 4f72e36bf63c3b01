package git

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// harmless matches a part of a path that no file system takes for .git.
var harmless = lazyregexp.New(`^[A-Za-z0-9._-]+$`)

// checkPath holds for a relative path in normal form. It does not know every
// way to write .git; see checkWritten.
func checkPath(path string) error {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsRune(part, 0) {
			return fmt.Errorf("%q is no path of a file in a repository", path)
		}
	}
	return nil
}

// checkWritten looks for the files in the tree, because git update-index passes
// over a path that it takes for .git on some file system, and says so nowhere
// but in a warning.
func (r *Repo) checkWritten(ctx context.Context, tree string, files map[string]*File) error {
	var doubtful []string
	for path, file := range files {
		if file != nil && isDoubtful(path) {
			doubtful = append(doubtful, path)
		}
	}
	if len(doubtful) == 0 {
		return nil
	}
	slices.Sort(doubtful)
	names := make([]string, len(doubtful))
	for i, path := range doubtful {
		names[i] = tree + ":" + path
	}
	in, err := zeroTerminated(names)
	if err != nil {
		return err
	}
	out, err := r.Run(ctx, Input{Stdin: in}, "cat-file", "--batch-check=%(objecttype)", "-z", "--buffer")
	if err != nil {
		return err
	}
	rest := string(out)
	for i, path := range doubtful {
		// What is missing comes back by its name, which may be of many lines.
		after, missing := strings.CutPrefix(rest, names[i]+" missing\n")
		if missing && files[path].Mode != ModeSubmodule {
			return fmt.Errorf("git refuses %q as a path: it may stand for .git", path)
		}
		if !missing {
			_, after, _ = strings.Cut(rest, "\n")
		}
		rest = after
	}
	return nil
}

func isDoubtful(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if !harmless().MatchString(part) || strings.HasPrefix(strings.ToLower(part), ".git") {
			return true
		}
	}
	return false
}
