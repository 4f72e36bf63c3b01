// Package workspace keeps states of a directory on disk: a snapshot is read-only,
// whole or not there, and checked against its manifest before anything is made
// of it. It lays out the workspace that a skill is improved in.
package workspace

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"

	"github.com/org/autoloop/internal/decision"
)

// Kind says what an entry is.
type Kind string

// The kinds of entries.
const (
	File      Kind = "file"
	Directory Kind = "directory"
	Link      Kind = "link"
	// special is what no snapshot can have: sockets, devices, pipes.
	special Kind = "special"
)

// Entry is one file, directory or symbolic link of a tree.
type Entry struct {
	// Path is from the tree's root with slashes, byte for byte as it is on disk.
	Path string
	Kind Kind
	// Mode has the nine permission bits; 0 for a link.
	Mode fs.FileMode
	// SHA256 is of a file's content, in hexadecimal; "" for the others.
	SHA256 string
	// Size is a file's, in bytes.
	Size int64
	// Target is what a link says.
	Target string
}

// same reports whether two entries are the same in all that a snapshot keeps.
func (e Entry) same(o Entry) bool { return e == o }

// Tree is a directory's content in the order of its paths, without the directory
// itself and without `.git`.
type Tree []Entry

func (t Tree) sort() {
	slices.SortFunc(t, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
}

// Digest is the SHA-256 over all entries, in hexadecimal: equal for trees that
// are the same in paths, kinds, modes, contents and links.
func (t Tree) Digest() string {
	sum := sha256.New()
	for _, e := range t {
		fmt.Fprintf(sum, "%d:%s %s %o %s %d:%s\n", len(e.Path), e.Path, e.Kind, e.Mode, e.SHA256, len(e.Target), e.Target)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Find returns the entry at a path.
func (t Tree) Find(path string) (Entry, bool) {
	i, found := slices.BinarySearchFunc(t, path, func(e Entry, path string) int { return cmp.Compare(e.Path, path) })
	if !found {
		return Entry{}, false
	}
	return t[i], true
}

// files counts the files and their bytes.
func (t Tree) files() (count int, bytes int64) {
	for _, e := range t {
		if e.Kind == File {
			count++
			bytes += e.Size
		}
	}
	return count, bytes
}

// fault says why no snapshot can be made of a tree, naming the first entry that
// is in the way; "" when one can.
func (t Tree) fault() string {
	links := decision.Links{}
	for _, e := range t {
		if e.Kind == Link {
			links[e.Path] = slashed(e.Target)
		}
	}
	for _, e := range t {
		switch {
		case e.Kind == special:
			return fmt.Sprintf("%q is neither file, directory nor link", e.Path)
		case decision.DotGit(base(e.Path)):
			return fmt.Sprintf("%q has a name that some file systems take for .git", e.Path)
		case e.Kind == Link:
			if wrong := links.Wrong(e.Path); wrong != "" {
				return fmt.Sprintf("%q %s (it says %q)", e.Path, wrong, e.Target)
			}
		}
	}
	return ""
}

// Difference is one path that two trees do not have alike. Before or After is
// nil on the side that lacks it.
type Difference struct {
	Path          string
	Before, After *Entry
}

// Compare lists what differs from one tree to another, in order.
func Compare(before, after Tree) []Difference {
	var list []Difference
	for i, j := 0, 0; i < len(before) || j < len(after); {
		switch {
		case j == len(after) || i < len(before) && before[i].Path < after[j].Path:
			list = append(list, Difference{Path: before[i].Path, Before: &before[i]})
			i++
		case i == len(before) || after[j].Path < before[i].Path:
			list = append(list, Difference{Path: after[j].Path, After: &after[j]})
			j++
		default:
			if !before[i].same(after[j]) {
				list = append(list, Difference{Path: before[i].Path, Before: &before[i], After: &after[j]})
			}
			i, j = i+1, j+1
		}
	}
	return list
}
