//go:build !unix

package files

import "time"

// Lock holds nothing where directories cannot be locked.
func Lock(string) (unlock func(), err error) { return func() {}, nil }

// TryLock holds nothing where directories cannot be locked.
func TryLock(string, time.Duration) (unlock func(), held bool, err error) {
	return func() {}, false, nil
}

// Held is false where directories cannot be locked.
func Held(string) (bool, error) { return false, nil }
