// Package sandbox gives a task a directory of its own: a fresh copy of its
// fixture with the configuration under test laid over it. Afterwards it tells
// what changed there and runs the task's checks, confined to that directory.
package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
)

// Entry is one path of a directory.
type Entry struct {
	// Path is relative, with slashes.
	Path string
	// Mode has the type and the permissions, nothing else.
	Mode fs.FileMode
	// Size counts bytes, and Sum is the SHA-256 in hex, of a regular file. The
	// sum is "" where nothing was read: a special file, one over the limit or
	// one that cannot be opened.
	Size int64
	Sum  string
	// Link is what a symbolic link says.
	Link string
}

func (e Entry) regular() bool { return e.Mode.IsRegular() }

func (e Entry) link() bool { return e.Mode.Type() == fs.ModeSymlink }

// Manifest is all paths of a directory, sorted, directories among them.
type Manifest []Entry

// Digest identifies paths, modes and content.
func (m Manifest) Digest() string {
	sum := sha256.New()
	for _, e := range m {
		fmt.Fprintf(sum, "%q %o %s %q\n", e.Path, e.Mode, e.Sum, e.Link)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Files lists the paths of the regular files, sorted.
func (m Manifest) Files() []string {
	var files []string
	for _, e := range m {
		if e.regular() {
			files = append(files, e.Path)
		}
	}
	return files
}

// index returns the entries by path.
func (m Manifest) index() map[string]Entry {
	found := make(map[string]Entry, len(m))
	for _, e := range m {
		found[e.Path] = e
	}
	return found
}
