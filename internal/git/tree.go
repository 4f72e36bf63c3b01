package git

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Modes of a tree's entries.
const (
	ModeFile       = "100644"
	ModeExecutable = "100755"
	ModeSymlink    = "120000"
	ModeSubmodule  = "160000"
	ModeDirectory  = "040000"
)

// TreeEntry is one entry of a tree. Path is as the tree has it: any bytes but NUL,
// with slashes.
type TreeEntry struct {
	Mode, Type, ID, Path string
	// Size is in bytes, where LsFiles asked for it; 0 for what is no file.
	Size int64
}

// listings are the trees that were listed last, by id: one iteration asks for the same tree
// in several places, and in a large repository a list costs as much as ten other calls.
type listings struct {
	sync.Mutex

	lists map[string][]TreeEntry
}

// LsTree lists every file below a commit or tree, with whole paths, in git's
// order; submodules are entries of type "commit". The caller may not change the list.
func (r *Repo) LsTree(ctx context.Context, rev string) (list []TreeEntry, err error) {
	r.listed.Lock()
	defer r.listed.Unlock()
	if list, known := r.listed.lists[rev]; known {
		return list, nil
	}
	if list, err = r.listTree(ctx, "-r", rev); err != nil || len(rev) != len(zeroID(r.ObjectFormat)) {
		return list, err // a name may stand for another tree next time
	}
	if len(r.listed.lists) == 8 {
		clear(r.listed.lists)
	}
	r.listed.lists[rev] = list
	return list, nil
}

// mostPaths is how many paths one call of git is given: long ones fill a command line.
const mostPaths = 400

// LsFiles lists those of the paths that exist in a commit or tree, which may
// be directories too, with their sizes; without paths all that is at the top.
func (r *Repo) LsFiles(ctx context.Context, rev string, paths ...string) ([]TreeEntry, error) {
	some := paths[:min(len(paths), mostPaths)]
	list, err := r.listTree(ctx, append([]string{"--long", rev, "--"}, some...)...)
	if rest := paths[len(some):]; err == nil && len(rest) > 0 {
		var more []TreeEntry
		more, err = r.LsFiles(ctx, rev, rest...)
		list = append(list, more...)
	}
	return list, err
}

// listTree reads "mode type id[ size]\tpath" for each entry; the size of a directory is "-".
func (r *Repo) listTree(ctx context.Context, args ...string) ([]TreeEntry, error) {
	out, err := r.Run(ctx, append([]string{"ls-tree", "-z", "--full-tree"}, args...)...)
	if err != nil {
		return nil, err
	}
	list := make([]TreeEntry, 0, bytes.Count(out, []byte{0}))
	for record := range records(out) {
		facts, path, found := strings.Cut(record, "\t")
		fields := strings.Fields(facts)
		if !found || len(fields) < 3 {
			return nil, fmt.Errorf("git ls-tree printed %.100q", record)
		}
		entry := TreeEntry{Mode: fields[0], Type: fields[1], ID: fields[2], Path: path}
		if len(fields) > 3 {
			entry.Size, _ = strconv.ParseInt(fields[3], 10, 64)
		}
		list = append(list, entry)
	}
	return list, nil
}

// File is a file to be put into a tree.
type File struct {
	// Mode is ModeFile when empty.
	Mode string
	// ID is an object that exists already; when it is empty, Data is written.
	ID   string
	Data []byte
}

// WriteFiles returns the tree that base (a commit, a tree, or "" for an empty
// one) becomes when the files are put at their paths; nil deletes, also what
// is not there. The user's index takes no part.
func (r *Repo) WriteFiles(ctx context.Context, base string, files map[string]*File) (tree string, err error) {
	info, err := r.indexInfo(ctx, files)
	if err != nil {
		return "", err
	}
	tree, err = r.changedTree(ctx, base, info, "update-index", "-z", "--add", "--replace", "--index-info")
	if err != nil {
		return "", err
	}
	return tree, r.checkWritten(ctx, tree, files)
}

// checkWritten looks for the files in the tree, because git update-index passes
// over a path that it takes for .git on some file system, and says so nowhere
// but in a warning.
func (r *Repo) checkWritten(ctx context.Context, tree string, files map[string]*File) error {
	entries, err := r.LsTree(ctx, tree)
	if err != nil {
		return err
	}
	written := map[string]bool{}
	for _, entry := range entries {
		written[entry.Path] = true
	}
	for path, file := range files {
		if file != nil && !written[path] {
			return fmt.Errorf("git refuses %q as a path: it may stand for .git", path)
		}
	}
	return nil
}

// indexInfo renders files for update-index --index-info, in the order of their
// paths, and writes the blobs that have no id yet.
func (r *Repo) indexInfo(ctx context.Context, files map[string]*File) ([]byte, error) {
	paths := slices.Sorted(maps.Keys(files))
	var unwritten []string
	var contents [][]byte
	for _, path := range paths {
		for part := range strings.SplitSeq(path, "/") {
			if part == "" || part == "." || part == ".." || strings.ContainsRune(part, 0) {
				return nil, fmt.Errorf("%q is no path of a file in a repository", path)
			}
		}
		if file := files[path]; file != nil && file.ID == "" {
			unwritten = append(unwritten, path)
			contents = append(contents, file.Data)
		}
	}
	ids, err := r.HashObjects(ctx, contents...)
	if err != nil {
		return nil, err
	}
	written := make(map[string]string, len(ids))
	for i, path := range unwritten {
		written[path] = ids[i]
	}
	var info bytes.Buffer
	for _, path := range paths {
		file := files[path]
		if file == nil {
			fmt.Fprintf(&info, "0 %s\t%s\x00", zeroID(r.ObjectFormat), path)
			continue
		}
		fmt.Fprintf(&info, "%s %s\t%s\x00", cmp.Or(file.Mode, ModeFile), cmp.Or(file.ID, written[path]), path)
	}
	return info.Bytes(), nil
}

// zeroID is the id that stands for no object.
func zeroID(format string) string {
	if format == "sha256" {
		return strings.Repeat("0", 64)
	}
	return strings.Repeat("0", 40)
}
