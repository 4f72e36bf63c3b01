package tree

import "github.com/org/autoloop/internal/files"

// RemoveAll deletes dir and all below it, also where directories are read-only
// or closed. Links are deleted and not followed.
func RemoveAll(dir string) error { return files.RemoveAll(dir) }
