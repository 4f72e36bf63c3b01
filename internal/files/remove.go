package files

import (
	"os"
	"path/filepath"
)

// RemoveAll deletes dir and all below it, also where directories are read-only
// or closed, or where the one around dir may not be listed. Links are deleted and
// not followed.
func RemoveAll(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	if info, err := os.Lstat(dir); err == nil && info.IsDir() {
		if above, err := os.OpenRoot(filepath.Dir(dir)); err == nil {
			_ = above.Chmod(filepath.Base(dir), 0o700) //nolint:gosec // it is about to be deleted
			above.Close()
		}
		if root, err := os.OpenRoot(dir); err == nil {
			if opened, err := root.Stat("."); err == nil && os.SameFile(info, opened) { // no link by now
				clearDir(root)
			}
			root.Close()
		}
	}
	return os.RemoveAll(dir)
}

// clearDir deletes what is in a directory, and opens those below it to their owner, one step
// at a time, so that no path is too long and none leads out. What it cannot delete, the
// removal after it will name.
func clearDir(dir *os.Root) {
	file, err := dir.Open(".")
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	entries, _ := file.ReadDir(-1) // those read before an error count
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() {
			_ = dir.Chmod(name, 0o700) //nolint:gosec // it is about to be deleted
			if below, err := dir.OpenRoot(name); err == nil {
				clearDir(below)
				below.Close()
			}
		}
		_ = dir.Remove(name)
	}
}
