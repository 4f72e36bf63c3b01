package tree

import (
	"io/fs"
	"os"
	"time"
)

// stamp is what tells that a file was not touched: nobody but the kernel sets
// the time of the last change of an inode.
type stamp struct {
	mode    fs.FileMode
	size    int64
	modtime time.Time
	changed time.Time // zero where the system does not tell
	inode   uint64
}

// settle waits until the clock of the file system has moved past the moment at
// which file was written, so that a later write cannot bear the same time.
func settle(file string) {
	written, err := os.Lstat(file)
	if err != nil {
		return
	}
	probe := file + ".clock"
	defer func() { _ = os.Remove(probe) }()
	const most = 200
	for range most {
		if os.WriteFile(probe, nil, 0o600) != nil {
			return
		}
		now, err := os.Lstat(probe)
		if err != nil || now.ModTime().After(written.ModTime()) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
