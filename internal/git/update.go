package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
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
// *BlockedError. A ref that another process holds is waited for, and a *LockedError
// when that takes too long: it names the file to remove when that process was killed.
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
	return unlocked(ctx, func() error {
		// The transaction takes milliseconds and is not cut off in the middle.
		_, err := r.Run(context.WithoutCancel(ctx), Input{Stdin: in.Bytes()},
			"update-ref", "--no-deref", "--create-reflog", "-m", reason, "-z", "--stdin")
		return err
	})
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
	if u.New == "" {
		if u.Old == "" {
			fmt.Fprintf(in, "verify %s\x00%s\x00", u.Ref, old)
			return nil
		}
		fmt.Fprintf(in, "delete %s\x00%s\x00", u.Ref, old)
		return nil
	}
	fmt.Fprintf(in, "update %s\x00%s\x00%s\x00", u.Ref, u.New, old)
	return nil
}

// updateError gives the failures of update-ref that a caller can act on their
// types. The messages are git's, in English because of LC_ALL=C.
func updateError(err error) error {
	var failed *Error
	if !errors.As(err, &failed) {
		return err
	}
	switch says := failed.Stderr; {
	case strings.Contains(says, "but expected "), strings.Contains(says, "reference already exists"),
		strings.Contains(says, "unable to resolve reference"), strings.Contains(says, "reference is missing"):
		return fmt.Errorf("%w: %s", ErrStale, firstReason(says))
	case strings.Contains(says, ".lock': File exists"):
		return lockedError(says)
	case strings.Contains(says, "exists; cannot create '"):
		return blockedError(says, err)
	}
	return err
}

// blockedError reads "'refs/heads/a' exists; cannot create 'refs/heads/a/b'".
func blockedError(says string, err error) error {
	before, after, _ := strings.Cut(says, "' exists; cannot create '")
	at := strings.LastIndex(before, "'")
	ref, _, found := strings.Cut(after, "'")
	if at < 0 || !found {
		return err
	}
	return &BlockedError{Ref: ref, By: before[at+1:]}
}
