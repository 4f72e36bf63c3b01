package workspace

import (
	"errors"
	"io/fs"
	"os"

	"github.com/org/autoloop/internal/files"
)

// swap gives two entries of the same file system each other's name: in one step
// where the file system can, else by way of aside, from which recover finds
// what a killed process left.
func swap(fresh, place, aside string) error {
	err := files.Exchange(fresh, place)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := os.Rename(place, aside); err != nil {
		return err
	}
	if err := os.Rename(fresh, place); err != nil {
		return errors.Join(err, os.Rename(aside, place))
	}
	return os.Rename(aside, fresh)
}

// asideOf is where a directory is while another takes its name in two steps.
func asideOf(dir string) string { return hidden(dir, "aside") }

// tidy ends what was interrupted beside a directory and removes what it left.
// The caller holds the lock.
func tidy(dir string) error {
	if err := recoverSwap(dir); err != nil {
		return err
	}
	for _, name := range []string{journalOf(dir), nextFile(dir), ManifestFile(dir), seenFile(dir)} {
		if err := files.ClearWrites(name); err != nil {
			return err
		}
	}
	return clearStages(dir)
}

// recoverSwap ends a swap that was interrupted: the old directory gets its name
// back when no other has it.
func recoverSwap(dir string) error {
	aside := asideOf(dir)
	if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return os.Rename(aside, dir)
	}
	return files.RemoveAll(aside)
}
