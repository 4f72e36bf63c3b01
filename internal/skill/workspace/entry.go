// Package workspace keeps states of a directory on disk: a snapshot is read-only,
// whole or not there, and checked against its manifest before anything is made
// of it. It lays out the workspace that a skill is improved in.
package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/files"
)

// Entry is one file, directory or symbolic link of a tree.
type Entry = files.Entry

// Tree is a directory's content in the order of its paths, without the directory
// itself and without `.git`.
type Tree files.Manifest

// Digest is the SHA-256 over all entries, in hexadecimal: equal for trees that
// are the same in paths, kinds, modes, contents and links.
func (t Tree) Digest() string {
	sum := sha256.New()
	for _, e := range t {
		fmt.Fprintf(sum, "%d:%s %s %o %s %d:%s\n", len(e.Path), e.Path, kindOf(e), e.Mode.Perm(), e.SHA256, len(e.Target), e.Target)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Find returns the entry at a path.
func (t Tree) Find(path string) (Entry, bool) { return files.Manifest(t).Find(path) }

// files counts the files and their bytes.
func (t Tree) files() (count int, bytes int64) { return files.Manifest(t).Files() }

// fault says why no snapshot can be made of a tree, naming the first entry that
// is in the way; "" when one can.
func (t Tree) fault() string {
	links := decision.Links{}
	for _, e := range t {
		if e.IsLink() {
			links[e.Path] = slashed(e.Target)
		}
	}
	for _, e := range t {
		switch {
		case e.IsSpecial():
			return fmt.Sprintf("%q is neither file, directory nor link", e.Path)
		case decision.DotGit(path.Base(e.Path)):
			return fmt.Sprintf("%q has a name that some file systems take for .git", e.Path)
		case e.IsLink():
			if wrong := links.Wrong(e.Path); wrong != "" {
				return fmt.Sprintf("%q %s (it says %q)", e.Path, wrong, e.Target)
			}
		}
	}
	return ""
}

// Difference is one path that two trees do not have alike.
type Difference = files.Difference

// Compare lists what differs from one tree to another, in order.
func Compare(before, after Tree) []Difference {
	return files.Compare(files.Manifest(before), files.Manifest(after))
}
