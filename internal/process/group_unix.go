//go:build unix

package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// killGroup kills the process group that process leads; none left is fine.
func killGroup(process *os.Process) { _ = syscall.Kill(-process.Pid, syscall.SIGKILL) }

// terminateGroup asks the process group that process leads to end.
func terminateGroup(process *os.Process) {
	_ = syscall.Kill(-process.Pid, syscall.SIGTERM)
	_ = syscall.Kill(-process.Pid, syscall.SIGCONT)
}

// signalOf names the signal that ended a process, or "".
func signalOf(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return unix.SignalName(status.Signal())
	}
	return ""
}
