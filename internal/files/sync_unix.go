//go:build unix

package files

import (
	"errors"
	"os"
)

// SyncDirectory makes the names in a directory outlive a crash.
func SyncDirectory(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
