// Package sandbox gives a task a directory of its own: a fresh copy of its
// fixture with the configuration under test laid over it. Afterwards it tells
// what changed there and runs the task's checks, confined to that directory.
package sandbox

import "github.com/org/autoloop/internal/files"

// Entry is one path of a directory; it has no digest where nothing was read: a
// special file, one over the limit or one that cannot be opened.
type Entry = files.Entry

// Manifest is all paths of a directory, sorted, directories among them.
type Manifest = files.Manifest
