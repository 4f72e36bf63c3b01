package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// HeadOf is the commit checked out in dir when that is the top of a clone or
// work tree of its own, "" when it is not.
func HeadOf(ctx context.Context, r *Repo, dir string) (string, error) {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	out, err := r.line(ctx, Input{WorkTree: dir, GitDir: filepath.Join(dir, ".git")}, "rev-parse", "--verify",
		"--quiet", "HEAD")
	if _, ok := errors.AsType[*Error](err); ok {
		return "", nil
	}
	return out, err
}
