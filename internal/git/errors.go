package git

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/process"
)

// Errors that a caller can act on.
var (
	ErrNoGit         = errors.New("git was not found; install it and put it on PATH")
	ErrNotRepository = errors.New("not a git repository; run git init there, or name another directory")
	// ErrStale says that a ref was not what the update expected.
	ErrStale = errors.New("a ref has moved in the meantime; run it again")
	// ErrLocked says that another git process holds a ref, or held it when it was killed.
	ErrLocked = errors.New("a ref is locked by another git process")
	// ErrRejected says that the remote refused a push; see *RejectedError.
	ErrRejected = errors.New("the remote refused the push")
)

// BlockedError says that the ref By is in the way of the ref Ref: one name
// cannot be a branch and a directory of branches.
type BlockedError struct {
	Ref, By string
	// Remote is where By is, "" in the local repository.
	Remote string
}

func (e *BlockedError) Error() string {
	where, cure := "", "git branch -m "+process.QuoteWord(short(e.By))+" <new name>"
	if e.Remote != "" {
		where = " on " + e.Remote
		cure = "rename it there"
	}
	return fmt.Sprintf("the branch %s%s is in the way of %s; %s", short(e.By), where, short(e.Ref), cure)
}

// Error is a git command that failed.
type Error struct {
	// Args are the arguments as the caller gave them.
	Args     []string
	ExitCode int
	// Stderr is what git said, and is bounded.
	Stderr string
}

func (e *Error) Error() string {
	return fmt.Sprintf("git %s: exit %d: %s", e.Args[0], e.ExitCode, firstReason(e.Stderr))
}

// firstReason is the line of git's standard error that says why, without the
// warnings and hints around it.
func firstReason(stderr string) string {
	first := ""
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if reason, found := strings.CutPrefix(line, "fatal: "); found {
			return reason
		}
		if reason, found := strings.CutPrefix(line, "error: "); found {
			return reason
		}
		first = cmp.Or(first, line)
	}
	return cmp.Or(first, "it gave no reason")
}

func short(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }
