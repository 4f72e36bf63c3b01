//go:build unix

package files

import (
	"os"
	"syscall"
)

// OwnedByUs reports whether a file belongs to the user that this process runs as.
func OwnedByUs(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
