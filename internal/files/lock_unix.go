//go:build unix

package files

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Lock waits until no other process holds a directory, and holds it until the
// function that it returns is called or the process ends.
func Lock(dir string) (unlock func(), err error) { return lock(dir, unix.LOCK_EX) }

// TryLock is Lock that waits only so long: held is true, and there is nothing to
// unlock, when another still holds the directory then. A process that is killed
// while it starts another leaves its locks to the child until that has become
// its program; a second outlasts that.
func TryLock(dir string, wait time.Duration) (unlock func(), held bool, err error) {
	for begun := time.Now(); ; time.Sleep(pause) {
		unlock, err = lock(dir, unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return unlock, false, err
		}
		if time.Since(begun) >= wait {
			return nil, true, nil
		}
	}
}

// Held reports whether a process holds a directory. Who asks is in the way of nobody who
// asks too.
func Held(dir string) (bool, error) {
	unlock, err := lock(dir, unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	if err == nil {
		unlock()
	}
	return false, err
}

// pause is how long TryLock waits between two tries.
const pause = 20 * time.Millisecond

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
