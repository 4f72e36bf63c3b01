package archive

import (
	"errors"
	"os"
	"path/filepath"
)

// syncFiles brings the files of a directory, and the directory, to the disk.
func syncFiles(dir string) error {
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
	return syncDirectory(dir)
}

func syncFile(name string) error {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// syncUpwards syncs a directory and those above it up to and with top, whose
// entries may be new.
func syncUpwards(dir, top string) error {
	for {
		if err := syncDirectory(dir); err != nil {
			return err
		}
		if dir == top || dir == filepath.Dir(dir) {
			return nil
		}
		dir = filepath.Dir(dir)
	}
}
