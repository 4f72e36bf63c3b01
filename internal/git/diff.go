package git

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lists"
)

// DiffEntry is one path that differs between two trees. Mode and id are "" on the
// side that does not have it.
type DiffEntry struct {
	// Commit is the one that made the difference; "" where two trees are compared.
	Commit           string
	Path             string
	OldMode, NewMode string
	OldID, NewID     string
}

// Changes lists the files that differ between two commits or trees, without
// looking for renames.
func (r *Repo) Changes(ctx context.Context, a, b string) ([]DiffEntry, error) {
	return r.rawDiff(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", a, b)
}

// Paths are those of what differs.
func Paths(entries []DiffEntry) []string {
	return lists.Map(entries, func(one DiffEntry) string { return one.Path })
}

// Versions lists what commits changed of a file or below a directory, the newest commit
// first, along the first parents of revs.
func (r *Repo) Versions(ctx context.Context, path string, revs ...string) ([]DiffEntry, error) {
	return r.rawDiff(ctx, slices.Concat([]string{
		"log", "--first-parent", "-m", "--root", "--raw", "--no-abbrev", "--no-renames", "-z", "--format=commit %H",
		"--end-of-options",
	}, revs, []string{"--", path})...)
}

// rawDiff reads what git prints with --raw -z: ":<modes> <ids> M", then the path; and "commit
// <id>" before those of a commit.
func (r *Repo) rawDiff(ctx context.Context, args ...string) ([]DiffEntry, error) {
	out, err := r.Run(ctx, args...)
	if err != nil {
		return nil, err
	}
	var changes []DiffEntry
	var commit string
	var facts []string
	for field := range records(out) {
		if facts != nil {
			c := DiffEntry{
				Commit: commit, Path: field, OldMode: facts[0], NewMode: facts[1], OldID: facts[2], NewID: facts[3],
			}
			if c.OldMode == "000000" {
				c.OldMode, c.OldID = "", ""
			}
			if c.NewMode == "000000" {
				c.NewMode, c.NewID = "", ""
			}
			changes, facts = append(changes, c), nil
			continue
		}
		if id, is := strings.CutPrefix(field, "commit "); is {
			commit = id
			continue
		}
		if facts = strings.Fields(strings.TrimLeft(field, "\n:")); len(facts) != 5 {
			return nil, fmt.Errorf("git %s printed %.100q", args[0], field)
		}
	}
	return changes, nil
}

// Diff is the patch that turns a into b, for people and for git apply.
func (r *Repo) Diff(ctx context.Context, a, b string) ([]byte, error) {
	return r.Run(ctx, "diff-tree", "-p", "--binary", "--full-index", "--no-renames",
		"--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", a, b)
}

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
	out, err := r.Run(ctx, append([]string{
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
