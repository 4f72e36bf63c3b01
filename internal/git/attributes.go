package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Filters returns which of the paths a filter is chosen for, and its name, by
// the attributes of a commit or tree.
func (r *Repo) Filters(ctx context.Context, treeish string, paths ...string) (map[string]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	dir, err := os.MkdirTemp(r.temp, "autoloop-index-")
	if err != nil {
		return nil, fmt.Errorf("read attributes: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if _, err := r.Run(ctx, Input{Env: index}, "read-tree", treeish); err != nil {
		return nil, err
	}
	list, err := zeroTerminated(paths)
	if err != nil {
		return nil, err
	}
	out, err := r.Run(ctx, Input{Env: index, Stdin: list}, "check-attr", "--cached", "-z", "--stdin", "filter")
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
