package git

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
type TreeEntry struct{ Mode, Type, ID, Path string }

// LsTree lists every file below a commit or tree, with whole paths, in git's
// order; submodules are entries of type "commit". What an id names never
// changes, so it is listed once.
func (r *Repo) LsTree(ctx context.Context, rev string) ([]TreeEntry, error) {
	if entries := r.read.list(rev); entries != nil {
		return entries, nil
	}
	entries, err := entriesOnly(r.listTree(ctx, "-r", rev))
	if err == nil && isID(r.ObjectFormat, rev) {
		r.read.keep(rev, entries)
	}
	return entries, err
}

// LsRoot lists the top of a commit or tree without going into directories.
func (r *Repo) LsRoot(ctx context.Context, rev string) ([]TreeEntry, error) {
	return entriesOnly(r.listTree(ctx, rev))
}

func entriesOnly(list []Sized, err error) ([]TreeEntry, error) {
	entries := make([]TreeEntry, len(list))
	for i, one := range list {
		entries[i] = one.TreeEntry
	}
	return entries, err
}

func (r *Repo) listTree(ctx context.Context, args ...string) ([]Sized, error) {
	out, err := r.Run(ctx, Input{}, append([]string{"ls-tree", "-z", "--full-tree"}, args...)...)
	if err != nil {
		return nil, err
	}
	list := make([]Sized, 0, bytes.Count(out, []byte{0}))
	for record := range strings.SplitSeq(string(out), "\x00") {
		if record == "" {
			continue
		}
		entry, err := parseEntry(record)
		if err != nil {
			return nil, err
		}
		list = append(list, entry)
	}
	return list, nil
}

// Sized is an entry with its size in bytes, 0 for what is no file.
type Sized struct {
	TreeEntry
	Size int64
}

// LsFiles lists those of the paths that exist in a commit or tree, which may
// be directories too.
func (r *Repo) LsFiles(ctx context.Context, rev string, paths ...string) ([]Sized, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	return r.listTree(ctx, append([]string{"--long", rev, "--"}, paths...)...)
}

// parseEntry reads "mode type id[ size]\tpath"; the size of a directory is "-".
func parseEntry(record string) (Sized, error) {
	facts, path, found := strings.Cut(record, "\t")
	fields := strings.Fields(facts)
	if !found || len(fields) < 3 {
		return Sized{}, fmt.Errorf("git ls-tree printed %.100q", record)
	}
	entry := Sized{TreeEntry: TreeEntry{Mode: fields[0], Type: fields[1], ID: fields[2], Path: path}}
	if len(fields) > 3 && fields[3] != "-" {
		var err error
		if entry.Size, err = strconv.ParseInt(fields[3], 10, 64); err != nil {
			return Sized{}, fmt.Errorf("git ls-tree printed %.100q", record)
		}
	}
	return entry, nil
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
	err = r.withIndex(ctx, base, func(run onIndex) (err error) {
		if _, err := run(info, "update-index", "-z", "--add", "--replace", "--index-info"); err != nil {
			return err
		}
		tree, err = run.writeTree()
		return err
	})
	if err != nil {
		return "", err
	}
	return tree, r.checkWritten(ctx, tree, files)
}

// indexInfo renders files for update-index --index-info, in the order of their
// paths, and writes the blobs that have no id yet.
func (r *Repo) indexInfo(ctx context.Context, files map[string]*File) ([]byte, error) {
	paths := make([]string, 0, len(files))
	var unwritten []string
	var contents [][]byte
	for path, file := range files {
		if err := checkPath(path); err != nil {
			return nil, err
		}
		paths = append(paths, path)
		if file != nil && file.ID == "" {
			unwritten = append(unwritten, path)
			contents = append(contents, file.Data)
		}
	}
	slices.Sort(paths)
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

func isID(format, text string) bool {
	return len(text) == len(zeroID(format)) && strings.Trim(text, "0123456789abcdef") == ""
}
