package git

import (
	"context"
	"strings"
)

// UncommittedFile is a file of the checkout that differs from the commit that is
// checked out.
type UncommittedFile struct {
	// Path has slashes and is relative to the root.
	Path string
	// New says that no commit has the file and that nobody added it.
	New bool
}

// Uncommitted lists the files of the checkout that are changed, added or deleted
// since the commit that is checked out, without ignored files, by their paths: all,
// or those at or below some paths.
func (r *Repo) Uncommitted(ctx context.Context, below ...string) ([]UncommittedFile, error) {
	out, err := r.Run(ctx, Input{}, append([]string{
		"status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=all", "--no-renames", "--",
	}, below...)...)
	var list []UncommittedFile
	for record := range records(out) {
		const code = 3 // two letters and a space
		if len(record) > code {
			list = append(list, UncommittedFile{Path: record[code:], New: strings.HasPrefix(record, "??")})
		}
	}
	return list, err
}
