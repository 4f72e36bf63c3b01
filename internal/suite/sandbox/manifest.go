// Package sandbox gives a task a directory of its own: a fresh copy of its
// fixture with the configuration under test laid over it. Afterwards it tells
// what changed there and runs the task's checks, confined to that directory.
package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/org/autoloop/internal/files"
)

// Entry is one path of a directory; it has no digest where nothing was read: a
// special file, one over the limit or one that cannot be opened.
type Entry = files.Entry

// Manifest is all paths of a directory, sorted, directories among them.
type Manifest files.Manifest

// Digest identifies paths, modes and content.
func (m Manifest) Digest() string {
	sum := sha256.New()
	for _, e := range m {
		fmt.Fprintf(sum, "%q %o %s %q\n", e.Path, e.Mode, e.SHA256, e.Target)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Files lists the paths of the regular files, sorted.
func (m Manifest) Files() []string {
	var list []string
	for _, e := range m {
		if e.IsFile() {
			list = append(list, e.Path)
		}
	}
	return list
}

// index returns the entries by path.
func (m Manifest) index() map[string]Entry {
	found := make(map[string]Entry, len(m))
	for _, e := range m {
		found[e.Path] = e
	}
	return found
}
