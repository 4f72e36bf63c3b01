package files

import (
	"errors"
	"os"
	"path/filepath"
)

// SyncFiles brings the files right in a directory, and the directory, to the
// disk.
func SyncFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		if err := syncFile(filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	return SyncDirectory(dir)
}

func syncFile(name string) error {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// SyncUpwards syncs a directory and those above it up to and with top, whose
// entries may be new.
func SyncUpwards(dir, top string) error {
	for {
		if err := SyncDirectory(dir); err != nil {
			return err
		}
		if dir == top || dir == filepath.Dir(dir) {
			return nil
		}
		dir = filepath.Dir(dir)
	}
}
