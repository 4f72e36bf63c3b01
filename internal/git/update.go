package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/org/autoloop/internal/lazyregexp"
)

// Any as the Old of a RefUpdate means that the ref may have any value, or be
// missing.
const Any = "any"

// RefUpdate moves a ref from one value to another.
type RefUpdate struct {
	// Ref is a full name, refs/heads/….
	Ref string
	// New is the commit that it shall point to; "" deletes it.
	New string
	// Old is what it must point to now; "" means that it must not exist, Any
	// that it does not matter.
	Old string
}

// UpdateRefs moves all refs or none, in one transaction. A ref that is not at
// its Old is ErrStale, one whose name is taken by a branch above or below it a
// *BlockedError. A ref that another process holds is waited for, and is ErrLocked when
// that takes too long, which names the file to remove when that process was killed.
// Symbolic refs are not followed; reason goes into the reflog.
//
// A process that is killed in the middle may have moved the first of the refs
// and not the last.
func (r *Repo) UpdateRefs(ctx context.Context, reason string, updates ...RefUpdate) error {
	if len(updates) == 0 {
		return nil
	}
	var in bytes.Buffer
	in.WriteString("start\x00")
	for _, u := range updates {
		if err := u.write(&in, r.ObjectFormat); err != nil {
			return err
		}
	}
	in.WriteString("prepare\x00commit\x00")
	for begun := time.Now(); ; {
		// The transaction takes milliseconds and is not cut off in the middle.
		_, err := r.RunWith(context.WithoutCancel(ctx), Input{Stdin: in.Bytes()},
			"update-ref", "--no-deref", "--create-reflog", "-m", reason, "-z", "--stdin")
		if err = updateError(err); !errors.Is(err, ErrLocked) || time.Since(begun) > lockWait {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// write adds the commands of the update for update-ref.
func (u RefUpdate) write(in *bytes.Buffer, format string) error {
	if !strings.HasPrefix(u.Ref, "refs/") || strings.ContainsAny(u.Ref, "\x00\n ") {
		return fmt.Errorf("%q is no full name of a ref", u.Ref)
	}
	old := u.Old
	switch u.Old {
	case "":
		old = zeroID(format)
	case Any:
		old = ""
	}
	switch {
	case u.New != "":
		fmt.Fprintf(in, "update %s\x00%s\x00%s\x00", u.Ref, u.New, old)
	case u.Old != "":
		fmt.Fprintf(in, "delete %s\x00%s\x00", u.Ref, old)
	default:
		fmt.Fprintf(in, "verify %s\x00%s\x00", u.Ref, old)
	}
	return nil
}

// updateError gives the failures of update-ref that a caller can act on their
// types. The messages are git's, in English because of LC_ALL=C.
func updateError(err error) error {
	failed, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	switch says := failed.Stderr; {
	case strings.Contains(says, "but expected "), strings.Contains(says, "reference already exists"),
		strings.Contains(says, "unable to resolve reference"), strings.Contains(says, "reference is missing"):
		return fmt.Errorf("%w: %s", ErrStale, firstReason(says))
	case strings.Contains(says, ".lock': File exists"):
		return fmt.Errorf("%w; if no other is running, remove %s", ErrLocked, lockPath(says))
	default:
		if names := inTheWay().FindStringSubmatch(says); names != nil {
			return &BlockedError{Ref: names[2], By: names[1]}
		}
		return err
	}
}

// inTheWay is "'refs/heads/a' exists; cannot create 'refs/heads/a/b'".
var inTheWay = lazyregexp.New(`'([^']*)' exists; cannot create '([^']*)'`)

// lockWait bounds how long another process's lock of a ref is waited for. A live
// one is gone within milliseconds.
const lockWait = 3 * time.Second

// lockPath reads "Unable to create '<path>': File exists".
func lockPath(says string) string {
	_, rest, _ := strings.Cut(says, "Unable to create '")
	path, _, _ := strings.Cut(rest, "': File exists")
	return path
}
