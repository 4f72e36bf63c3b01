package files

import (
	"os"
	"path/filepath"
)

// RemoveAll deletes dir and all below it, also where directories are read-only
// or closed. Links are deleted and not followed.
func RemoveAll(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	if root, err := os.OpenRoot(filepath.Dir(dir)); err == nil {
		unlock(root, filepath.Base(dir))
		_ = root.Close()
	}
	return os.RemoveAll(dir)
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
	for _, child := range directoriesIn(dir) {
		unlock(dir, child)
	}
}

func directoriesIn(dir *os.Root) []string {
	file, err := dir.Open(".")
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	entries, _ := file.ReadDir(-1) // those read before an error count
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names
}
