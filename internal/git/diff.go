package git

import (
	"context"
	"fmt"
	"strings"
)

// DiffEntry is one path that differs between two trees. Mode and id are "" on the
// side that does not have it.
type DiffEntry struct {
	Path             string
	OldMode, NewMode string
	OldID, NewID     string
}

// Changes lists the files that differ between two commits or trees, without
// looking for renames.
func (r *Repo) Changes(ctx context.Context, a, b string) ([]DiffEntry, error) {
	out, err := r.Run(ctx, Input{}, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", a, b)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	var changes []DiffEntry
	for i := 0; i+1 < len(fields); i += 2 {
		facts := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(facts) != 5 {
			return nil, fmt.Errorf("compare %s with %s: git diff-tree printed %.100q", a, b, fields[i])
		}
		c := DiffEntry{Path: fields[i+1], OldMode: facts[0], NewMode: facts[1], OldID: facts[2], NewID: facts[3]}
		if c.OldMode == "000000" {
			c.OldMode, c.OldID = "", ""
		}
		if c.NewMode == "000000" {
			c.NewMode, c.NewID = "", ""
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// Diff is the patch that turns a into b, for people and for git apply.
func (r *Repo) Diff(ctx context.Context, a, b string) ([]byte, error) {
	return r.Run(ctx, Input{}, "diff-tree", "-p", "--binary", "--full-index", "--no-renames",
		"--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", a, b)
}
