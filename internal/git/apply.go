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
func (r *Repo) Apply(ctx context.Context, base string, patch []byte) (string, error) {
	return r.changedTree(ctx, base, patch, "apply", "--cached", "--whitespace=nowarn", "-")
}

// changedTree is the tree that a commit or tree, "" for an empty one, becomes by a command that
// changes the index.
func (r *Repo) changedTree(ctx context.Context, base string, stdin []byte, args ...string) (tree string, err error) {
	err = r.withIndex(ctx, base, func(run onIndex) (err error) {
		if _, err := run(stdin, args...); err != nil {
			return err
		}
		tree, err = line(run(nil, "write-tree"))
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
		return r.RunWith(ctx, Input{Stdin: stdin, Env: []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}}, args...)
	}
	if treeish != "" {
		if _, err := run(nil, "read-tree", treeish); err != nil {
			return err
		}
	}
	return use(run)
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
