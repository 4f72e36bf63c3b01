package files

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// SyncsTrees reports whether SyncTree can be used here.
const SyncsTrees = true

// SyncTree brings all that is on the file system of a directory to the disk, in
// one go.
func SyncTree(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(os.NewSyscallError("syncfs", unix.Syncfs(int(file.Fd()))), file.Close())
}
