//go:build !unix

package files

// Trusted holds where directories have no owner of this kind.
func Trusted(string) error { return nil }
