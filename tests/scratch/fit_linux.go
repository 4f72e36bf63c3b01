package scratch

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/org/autoloop/tests/long"
)

// fit reports whether Memory is in memory, has room, and lets programs be run.
func fit() bool {
	room := uint64(2 << 30)
	if long.Asked() {
		room = 4 << 30 // whole build caches
	}
	var stat unix.Statfs_t
	return unix.Statfs(Memory, &stat) == nil && stat.Type == unix.TMPFS_MAGIC &&
		stat.Bavail*uint64(stat.Bsize) >= room &&
		stat.Flags&unix.ST_NOEXEC == 0 && //nolint:gosec // the size of a block is positive
		unix.Access(Memory, unix.W_OK|unix.X_OK) == nil && available() >= room
}

// available is how much memory there is for more, in bytes; 0 when the kernel does not say.
func available() uint64 {
	text, _ := os.ReadFile("/proc/meminfo")
	_, after, _ := strings.Cut(string(text), "\nMemAvailable:")
	var kilobytes uint64
	_, _ = fmt.Sscan(after, &kilobytes)
	return kilobytes << 10
}
