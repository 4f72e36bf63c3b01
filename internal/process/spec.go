package process

import (
	"io"
	"time"
)

// DefaultOutputCap is how many bytes of each output stream are kept when a Spec
// does not say: 10 MiB.
const DefaultOutputCap = 10 << 20

// Spec is a command to run under supervision.
type Spec struct {
	// Args is the command line. Args[0] is looked up by LookPath.
	Args []string
	// Dir is the working directory.
	Dir string
	// Env is the whole environment; nothing is inherited.
	Env []string
	// Stdin is copied to the command, as much as it reads; nil is empty. A Read
	// that blocks is left behind when the command has ended.
	Stdin io.Reader
	// Offline keeps the command from every network but a loopback of its own; it
	// needs a Runner with an Isolation.
	Offline bool
	// Writable and Readable are paths that an isolated command may use beside
	// Dir, HOME and TMPDIR; they mean nothing without isolation.
	Writable, Readable []string
	// Fixed are files and directories, by their paths below Dir, that a command
	// isolated by our own namespaces can read and not change. Links are left out.
	Fixed []string
	// FillCaches lets an isolated command write to the caller's own caches of
	// builds: for what nobody but the caller's people wrote.
	FillCaches bool
	// Timeout ends the command; 0 is no bound but the context's.
	Timeout time.Duration
	// OutputCap bounds what is kept of each stream, in bytes; 0 is
	// DefaultOutputCap.
	OutputCap int64
	// Stdout and Stderr get a live copy of the streams, or are nil. Their errors
	// are ignored; a Write that blocks holds up the command. They must differ
	// unless the writer may be used by two goroutines at once.
	Stdout, Stderr io.Writer
}

// Result is how a command ended.
type Result struct {
	// ExitCode is the command's; -1 when a signal ended it, 127 when it was not
	// found.
	ExitCode int
	// Signal names the signal that ended the command, as SIGKILL, or "".
	Signal string
	// TimedOut and Cancelled say that we ended it: its time was up, or the
	// context was done.
	TimedOut, Cancelled bool
	// Exceeded says which bound of processes or memory the command was ended for;
	// "" when it was not.
	Exceeded string
	// NotFound says that there is no such program; nothing ran.
	NotFound bool
	// Stdout and Stderr hold the last OutputCap bytes of each stream, since a
	// result is printed last. The Truncated fields say that there was more.
	Stdout, Stderr                   []byte
	StdoutTruncated, StderrTruncated bool
	// Duration is the wall-clock time.
	Duration time.Duration
}

// OK reports whether the command ran and ended well by itself.
func (r Result) OK() bool {
	return r.ExitCode == 0 && !r.TimedOut && !r.Cancelled && !r.NotFound && r.Exceeded == ""
}
