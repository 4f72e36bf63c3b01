//go:build !linux && !darwin

package tree

import "io/fs"

// addInode adds nothing where the system does not tell.
func addInode(*stamp, fs.FileInfo) {}
