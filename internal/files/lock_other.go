//go:build !unix

package files

// Lock holds nothing where directories cannot be locked.
func Lock(string) (unlock func(), err error) { return func() {}, nil }

// TryLock holds nothing where directories cannot be locked.
func TryLock(string) (unlock func(), held bool, err error) { return func() {}, false, nil }
