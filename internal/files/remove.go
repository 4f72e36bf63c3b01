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
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		clearDir(dir)
		return os.Remove(dir)
	}
	unlock(root, filepath.Base(dir))
	_ = root.Close()
	return os.RemoveAll(dir)
}

// clearDir deletes what is in a directory, which os.RemoveAll reaches through the one
// around it alone. What it cannot delete, the removal after it will name.
func clearDir(dir string) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }()
	if opened, err := root.Stat("."); err != nil || !os.SameFile(info, opened) {
		return // somebody has put a link there meanwhile
	}
	for _, entry := range entriesOf(root) {
		unlock(root, entry.Name())
		_ = root.RemoveAll(entry.Name())
	}
}

// unlock opens a directory and all below it to their owner, one step at a time,
// so that no path is too long and none leads out. What it cannot open, the
// removal after it will name.
func unlock(above *os.Root, name string) {
	if info, err := above.Lstat(name); err != nil || !info.IsDir() {
		return
	}
	_ = above.Chmod(name, 0o700) //nolint:gosec // it is about to be deleted
	dir, err := above.OpenRoot(name)
	if err != nil {
		return
	}
	defer func() { _ = dir.Close() }()
	for _, entry := range entriesOf(dir) {
		if entry.IsDir() {
			unlock(dir, entry.Name())
		}
	}
}

func entriesOf(dir *os.Root) []os.DirEntry {
	file, err := dir.Open(".")
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	entries, _ := file.ReadDir(-1) // those read before an error count
	return entries
}
