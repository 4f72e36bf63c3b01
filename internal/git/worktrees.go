package git

import (
	"context"
	"os"
	"strings"
)

// CheckedOutBranches maps the full name of every branch that is checked out
// in any work tree of the repository to the path of that work tree. Work trees
// whose directory is gone do not count.
func (r *Repo) CheckedOutBranches(ctx context.Context) (map[string]string, error) {
	out, err := r.Run(ctx, Input{}, "for-each-ref", "--format=%(refname)%00%(worktreepath)%00", "refs/heads")
	if err != nil {
		return nil, err
	}
	branches := map[string]string{}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		branch, path := strings.TrimPrefix(fields[i], "\n"), fields[i+1]
		if _, err := os.Stat(path); err == nil {
			branches[branch] = path
		}
	}
	return branches, nil
}
