package git

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// leftover is how long a ref's lock must stay as it is to be one that a killed
// process left behind. A live one is gone within milliseconds.
const leftover = 3 * time.Second

// LockedError says that another git process holds a ref, or held it when it
// was killed.
type LockedError struct {
	// Path is the lock's file.
	Path string
}

func (e *LockedError) Error() string {
	return "a ref is locked by another git process; if there is none, remove " + e.Path
}

// Is makes it ErrLocked.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// lockedError reads "Unable to create '<path>': File exists".
func lockedError(says string) error {
	_, rest, _ := strings.Cut(says, "Unable to create '")
	path, _, _ := strings.Cut(rest, "': File exists")
	return &LockedError{Path: path}
}

// outwait waits until the lock is gone or in other hands. One of a ref of ours
// that stays the same for too long is taken away. It returns the context's
// error alone.
func (r *Repo) outwait(ctx context.Context, path string, updates []RefUpdate) error {
	const poll = 20 * time.Millisecond
	before, err := os.Lstat(path)
	if err != nil {
		return nil // it is gone, or cannot be looked at: git will say which
	}
	for begun := time.Now(); time.Since(begun) < leftover; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(poll):
		}
		if now, err := os.Lstat(path); err != nil || !sameLock(before, now) {
			return nil
		}
	}
	if r.isLockOf(path, updates) {
		r.takeAway(path, before)
	}
	return nil
}

func sameLock(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// isLockOf holds for the locks of the refs that are to be moved: only about
// those it is known how long they can be held.
func (r *Repo) isLockOf(path string, updates []RefUpdate) bool {
	for _, u := range updates {
		if path == filepath.Join(r.CommonDir, filepath.FromSlash(u.Ref))+".lock" {
			return true
		}
	}
	return false
}

// takeAway removes the lock that was seen, and puts one back that took its
// place in that moment.
func (r *Repo) takeAway(path string, seen os.FileInfo) {
	aside := filepath.Join(r.CommonDir, "autoloop-leftover-"+strconv.Itoa(os.Getpid())+".lock")
	if os.Rename(path, aside) != nil {
		return
	}
	if now, err := os.Lstat(aside); err == nil && !sameLock(seen, now) {
		_ = os.Link(aside, path)
	}
	_ = os.Remove(aside)
}
