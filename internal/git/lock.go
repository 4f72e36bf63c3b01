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
	return "a ref is locked by another git process; if no other is running, remove " + e.Path
}

// Is makes it ErrLocked.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// lockedError reads "Unable to create '<path>': File exists".
func lockedError(says string) error {
	_, rest, _ := strings.Cut(says, "Unable to create '")
	path, _, _ := strings.Cut(rest, "': File exists")
	return &LockedError{Path: path}
}

// refLocks are the locks that git puts beside refs.
type refLocks struct{ *Repo }

func (r *Repo) refLocks() refLocks { return refLocks{r} }

// outwait waits until the lock is gone or in other hands. When it stays the same
// for too long, it and the other locks of the refs that stayed the same with it
// are taken away. It returns the context's error alone.
func (r refLocks) outwait(ctx context.Context, path string, updates []RefUpdate) error {
	const poll = 20 * time.Millisecond
	before := r.locks(updates)
	// Only of our refs it is known how long they can be held: another lock is
	// waited for and left.
	if _, ours := before[path]; !ours {
		info, err := os.Lstat(path)
		if err != nil {
			return nil //nolint:nilerr // it is gone, or cannot be looked at: git will say which
		}
		return wait(ctx, poll, func() bool { return same(path, info) })
	}
	if err := wait(ctx, poll, func() bool { return same(path, before[path]) }); err != nil {
		return err
	}
	if !same(path, before[path]) {
		return nil
	}
	for path, info := range before {
		r.takeAway(path, info)
	}
	return nil
}

// wait looks again and again until there is a change, or for the time that
// makes a lock a leftover.
func wait(ctx context.Context, poll time.Duration, unchanged func() bool) error {
	for begun := time.Now(); time.Since(begun) < leftover && unchanged(); {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(poll):
		}
	}
	return nil
}

// locks are the locks that exist for the refs.
func (r refLocks) locks(updates []RefUpdate) map[string]os.FileInfo {
	locks := map[string]os.FileInfo{}
	for _, u := range updates {
		path := filepath.Join(r.CommonDir, filepath.FromSlash(u.Ref)) + ".lock"
		if info, err := os.Lstat(path); err == nil {
			locks[path] = info
		}
	}
	return locks
}

func same(path string, before os.FileInfo) bool {
	now, err := os.Lstat(path)
	return err == nil && sameLock(before, now)
}

func sameLock(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// takeAway removes the lock that was seen, and puts one back that took its
// place in that moment.
func (r refLocks) takeAway(path string, seen os.FileInfo) {
	if !same(path, seen) {
		return
	}
	aside := filepath.Join(r.CommonDir, "autoloop-leftover-"+strconv.Itoa(os.Getpid())+".lock")
	if os.Rename(path, aside) != nil {
		return
	}
	if now, err := os.Lstat(aside); err == nil && !sameLock(seen, now) {
		_ = os.Link(aside, path)
	}
	_ = os.Remove(aside)
}
