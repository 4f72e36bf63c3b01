package scratch

import "golang.org/x/sys/unix"

// fit reports whether Memory is in memory, has room, and lets programs be run.
func fit() bool {
	const room = 2 << 30
	var stat unix.Statfs_t
	return unix.Statfs(Memory, &stat) == nil && stat.Type == unix.TMPFS_MAGIC &&
		stat.Bavail*uint64(stat.Bsize) >= room && stat.Flags&unix.ST_NOEXEC == 0 && //nolint:gosec // the size of a block is positive
		unix.Access(Memory, unix.W_OK|unix.X_OK) == nil
}
