//go:build !unix

package disk

// Lock holds nothing where directories cannot be locked.
func Lock(string) (unlock func(), err error) { return func() {}, nil }
