package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// CheckedOutBranches maps the full name of every branch that is checked out
// in any work tree of the repository to the path of that work tree. Work trees
// whose directory is gone do not count.
func (r *Repo) CheckedOutBranches(ctx context.Context) (map[string]string, error) {
	if _, err := os.Lstat(filepath.Join(r.CommonDir, "worktrees")); errors.Is(err, fs.ErrNotExist) &&
		r.GitDir == r.CommonDir {
		branch, err := r.CurrentBranch(ctx)
		if err != nil || branch == "" {
			return map[string]string{}, err
		}
		return map[string]string{branch: filepath.ToSlash(r.Root)}, nil
	}
	out, err := r.Run(ctx, Input{}, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	branches := map[string]string{}
	for record := range strings.SplitSeq(string(out), "\x00\x00") {
		var path, branch string
		gone := false
		for field := range strings.SplitSeq(record, "\x00") {
			key, value, _ := strings.Cut(field, " ")
			switch key {
			case "worktree":
				path = value
			case "branch":
				branch = value
			case "prunable":
				gone = true
			}
		}
		if branch != "" && !gone {
			branches[branch] = path
		}
	}
	return branches, nil
}
