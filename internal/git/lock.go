package git

import (
	"context"
	"errors"
	"strings"
	"time"
)

// lockWait bounds how long another process's lock of a ref is waited for. A live
// one is gone within milliseconds.
const lockWait = 3 * time.Second

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
func lockedError(says string) *LockedError {
	_, rest, _ := strings.Cut(says, "Unable to create '")
	path, _, _ := strings.Cut(rest, "': File exists")
	return &LockedError{Path: path}
}

// unlocked moves refs, and tries again for as long as another process holds one of them.
func unlocked(ctx context.Context, move func() error) error {
	for begun := time.Now(); ; {
		err := updateError(move())
		if _, locked := errors.AsType[*LockedError](err); !locked || time.Since(begun) > lockWait {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
