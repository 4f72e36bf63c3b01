//go:build !linux

package files

import "io/fs"

// stampOf knows no time of the last change here, so that everything is read.
func stampOf(fs.FileInfo) Stamp { return Stamp{} }
