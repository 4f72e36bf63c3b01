package files

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Exchange gives two existing names each other's file or directory, in one
// step. The error wraps errors.ErrUnsupported where the file system cannot.
func Exchange(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		err = errors.ErrUnsupported
	}
	if err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}
