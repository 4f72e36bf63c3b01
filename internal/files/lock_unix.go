//go:build unix

package files

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Lock waits until no other process holds a directory, and holds it until the
// function that it returns is called or the process ends.
func Lock(dir string) (unlock func(), err error) { return lock(dir, unix.LOCK_EX) }

// TryLock is Lock that does not wait: held is true, and there is nothing to
// unlock, when another holds the directory.
func TryLock(dir string) (unlock func(), held bool, err error) {
	unlock, err = lock(dir, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, true, nil
	}
	return unlock, false, err
}

func lock(dir string, how int) (unlock func(), err error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(file.Fd()), how)
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
