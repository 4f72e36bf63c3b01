// Package disk makes what was written outlive a crash: it syncs, replaces one
// thing by another in one step, and removes what is closed to its owner.
package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile puts a file with this content in the place of whatever file is
// there, in one step, and syncs it. A process that is killed leaves the old
// file or the new one.
func WriteFile(name string, data []byte, mode fs.FileMode) error {
	dir := filepath.Dir(name)
	file, err := os.CreateTemp(dir, "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return err
	}
	return SyncDirectory(dir)
}
