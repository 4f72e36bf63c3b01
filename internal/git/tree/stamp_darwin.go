package tree

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

func stampOf(info fs.FileInfo) stamp {
	s := stamp{mode: info.Mode(), size: info.Size(), modified: info.ModTime(), changed: info.ModTime()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		s.changed = time.Unix(stat.Ctimespec.Unix())
		s.inode = stat.Ino
	}
	return s
}

// plainDirectory is not known here, so that no tree is used twice.
func plainDirectory(string) bool { return false }

func readFile(path string, _ int64) ([]byte, error) { return os.ReadFile(path) }
