package files

import (
	"io/fs"
	"time"
)

// Stamp is what tells without reading a file that nobody wrote to it: times in
// nanoseconds since 1970. The zero Stamp tells nothing.
type Stamp struct {
	Size     int64
	Modified int64
	// Changed is the time of the last change to content, name or mode, which no
	// program can choose.
	Changed int64
	Inode   uint64
}

// The steps in which file systems count time: a few milliseconds, or one or two
// seconds where their times have no fraction.
const (
	fineStep   = 20 * time.Millisecond
	coarseStep = 2 * time.Second
)

// StampOf is the stamp of a regular file, zero where the system gives none.
func StampOf(info fs.FileInfo) Stamp {
	if !info.Mode().IsRegular() {
		return Stamp{}
	}
	return stampOf(info)
}

// SettledBy reports whether the file's last change was so long before a moment
// that any later one has another time.
func (s Stamp) SettledBy(moment time.Time) bool {
	step := fineStep
	if s.Changed%int64(time.Second) == 0 {
		step = coarseStep
	}
	return s != (Stamp{}) && s.Changed < moment.Add(-step).UnixNano()
}
