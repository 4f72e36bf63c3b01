//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// whenUnread calls end once somebody writes to a pipe whose reader is gone, when file is one.
// Without it the first write there kills the process. The signal itself does not say which
// pipe it was, and that of a command that ended is no reason to end.
func whenUnread(file *os.File, end func()) {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	go func() {
		for range broken {
			at := []unix.PollFd{{Fd: int32(file.Fd())}} //nolint:gosec // a file descriptor is a small number
			if n, err := unix.Poll(at, 0); err == nil && n == 1 && at[0].Revents&unix.POLLERR != 0 {
				end()
			}
		}
	}()
}
