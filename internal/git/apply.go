package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Apply returns the tree that a commit or tree becomes by a patch, as Diff
// prints it. The index that it needs is its own; the patch goes in as a whole or
// not at all.
func (r *Repo) Apply(ctx context.Context, base string, patch []byte) (string, error) {
	dir, err := os.MkdirTemp(r.temp, "autoloop-index-")
	if err != nil {
		return "", fmt.Errorf("apply patch: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if _, err := r.Run(ctx, Input{Env: index}, "read-tree", base); err != nil {
		return "", err
	}
	if _, err := r.Run(ctx, Input{Env: index, Stdin: patch}, "apply", "--cached", "--whitespace=nowarn", "-"); err != nil {
		return "", err
	}
	return r.line(ctx, Input{Env: index}, "write-tree")
}
