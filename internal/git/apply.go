package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Apply returns the tree that a commit or tree becomes by a patch, as Diff
// prints it. The patch goes in as a whole or not at all.
func (r *Repo) Apply(ctx context.Context, base string, patch []byte) (tree string, err error) {
	err = r.withIndex(ctx, base, func(run onIndex) (err error) {
		if _, err := run(patch, "apply", "--cached", "--whitespace=nowarn", "-"); err != nil {
			return err
		}
		tree, err = run.writeTree()
		return err
	})
	return tree, err
}

// onIndex runs git with an index of its own.
type onIndex func(stdin []byte, args ...string) ([]byte, error)

// withIndex fills an index with a commit or tree, "" for nothing, and removes it after
// use. The user's takes no part.
func (r *Repo) withIndex(ctx context.Context, treeish string, use func(run onIndex) error) error {
	dir, err := os.MkdirTemp(r.temp, "autoloop-index-")
	if err != nil {
		return fmt.Errorf("make an index: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	run := func(stdin []byte, args ...string) ([]byte, error) {
		return r.Run(ctx, Input{Stdin: stdin, Env: []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}}, args...)
	}
	if treeish != "" {
		if _, err := run(nil, "read-tree", treeish); err != nil {
			return err
		}
	}
	return use(run)
}

func (run onIndex) writeTree() (string, error) {
	out, err := run(nil, "write-tree")
	return strings.TrimSpace(string(out)), err
}
