//go:build !unix

package disk

// SyncDirectory has nothing to do where directories cannot be synced.
func SyncDirectory(string) error { return nil }
