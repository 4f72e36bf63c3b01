package files

import (
	"io/fs"
	"syscall"
)

func stampOf(info fs.FileInfo) Stamp {
	found, is := info.Sys().(*syscall.Stat_t)
	if !is {
		return Stamp{}
	}
	return Stamp{Size: info.Size(), Modified: info.ModTime().UnixNano(), Changed: found.Ctim.Nano(), Inode: found.Ino}
}
