package tree

import (
	"io/fs"
	"syscall"
	"time"
)

func addInode(s *stamp, info fs.FileInfo) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		s.changed = time.Unix(stat.Ctimespec.Unix())
		s.inode = stat.Ino
	}
}
