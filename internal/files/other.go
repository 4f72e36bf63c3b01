//go:build !unix

package files

import (
	"os"
	"time"
)

// Lock holds nothing where directories cannot be locked.
func Lock(string) (unlock func(), err error) { return func() {}, nil }

// TryLock holds nothing where directories cannot be locked.
func TryLock(string, time.Duration) (unlock func(), held bool, err error) {
	return func() {}, false, nil
}

// Held is false where directories cannot be locked.
func Held(string) (bool, error) { return false, nil }

// SyncDirectory has nothing to do where directories cannot be synced.
func SyncDirectory(string) error { return nil }

// OwnedByUs holds where files have no owner of this kind.
func OwnedByUs(os.FileInfo) bool { return true }

// Trusted holds where directories have no owner of this kind.
func Trusted(string) error { return nil }
