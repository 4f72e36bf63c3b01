//go:build unix

package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalGroup sends a signal to the process group that process leads; none left is fine.
func signalGroup(process *os.Process, signal syscall.Signal) { _ = syscall.Kill(-process.Pid, signal) }

// signalOf names the signal that ended a process, or "".
func signalOf(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return unix.SignalName(status.Signal())
	}
	return ""
}
