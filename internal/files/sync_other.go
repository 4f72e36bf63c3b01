//go:build !unix

package files

// SyncDirectory has nothing to do where directories cannot be synced.
func SyncDirectory(string) error { return nil }
