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
	dir, err := os.MkdirTemp(r.Temp, "autoloop-index-")
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

// Filters returns which of the paths a filter is chosen for, and its name, by
// the attributes of a commit or tree.
func (r *Repo) Filters(ctx context.Context, treeish string, paths ...string) (map[string]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	list, err := zeroTerminated(paths)
	if err != nil {
		return nil, err
	}
	var out []byte
	err = r.withIndex(ctx, treeish, func(run onIndex) (err error) {
		out, err = run(list, "check-attr", "--cached", "-z", "--stdin", "filter")
		return err
	})
	if err != nil {
		return nil, err
	}
	filters := map[string]string{}
	fields := strings.Split(string(out), "\x00")
	for at := 0; at+2 < len(fields); at += 3 {
		if value := fields[at+2]; value != "unspecified" && value != "unset" {
			filters[fields[at]] = value
		}
	}
	return filters, nil
}
