//go:build unix

package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// Lock waits until no other process holds a directory, and holds it until the
// function that it returns is called or the process ends.
func Lock(dir string) (unlock func(), err error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX)
		if err != unix.EINTR { //nolint:errorlint // a bare number of the system
			break
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, &os.PathError{Op: "lock", Path: dir, Err: err}
	}
	return func() { _ = file.Close() }, nil
}
