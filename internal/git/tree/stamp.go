package tree

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// stamp is what tells that a file was not touched: nobody but the kernel sets
// the time of the last change of an inode.
type stamp struct {
	mode     fs.FileMode
	size     int64
	modified time.Time
	changed  time.Time // modified where the system does not tell
	inode    uint64
}

func stampOf(info fs.FileInfo) stamp {
	s := stamp{mode: info.Mode(), size: info.Size(), modified: info.ModTime(), changed: info.ModTime()}
	addInode(&s, info)
	return s
}

// before reports whether the file was last changed before t. What was written
// in the same tick of the clock could have been written again unseen.
func (s stamp) before(t time.Time) bool { return s.changed.Before(t) }

// settle returns a time of the clock of dir's file system that is later than
// all that was written there so far, or, when that clock is slow, as late.
func settle(dir string) time.Time {
	first := tick(dir)
	const most = 20
	for range most {
		if now := tick(dir); now.After(first) {
			return now
		}
		time.Sleep(time.Millisecond)
	}
	return first
}

// tick asks a file system for its time; zero when it does not tell.
func tick(dir string) time.Time {
	probe := filepath.Join(dir, "clock")
	defer func() { _ = os.Remove(probe) }()
	if os.WriteFile(probe, nil, 0o600) != nil {
		return time.Time{}
	}
	info, err := os.Lstat(probe)
	if err != nil {
		return time.Time{}
	}
	return stampOf(info).changed
}
