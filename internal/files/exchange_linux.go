package files

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Exchange gives two existing names each other's file or directory, in one
// step. The error wraps errors.ErrUnsupported where the file system cannot.
func Exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		err = errors.ErrUnsupported
	}
	if err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}
