//go:build unix

package archive

import (
	"errors"
	"os"
)

// syncDirectory makes the names in a directory outlive a crash.
func syncDirectory(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
