package git

import (
	"context"
	"path"
	"strings"
)

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
	entries, err := r.LsTree(ctx, treeish)
	if err != nil {
		return nil, err
	}
	attributes := map[string]*File{}
	for _, entry := range entries {
		if path.Base(entry.Path) == ".gitattributes" {
			attributes[entry.Path] = &File{Mode: entry.Mode, ID: entry.ID}
		}
	}
	info, err := r.indexInfo(ctx, attributes)
	if err != nil {
		return nil, err
	}
	var out []byte
	err = r.withIndex(ctx, "", func(run onIndex) (err error) {
		if _, err := run(info, "update-index", "-z", "--add", "--index-info"); err != nil {
			return err
		}
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
