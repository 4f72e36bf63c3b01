package process

import (
	"os/exec"
	"syscall"
)

// ownGroup puts cmd into a process group of its own, kills that group when the
// context ends, and has the kernel end cmd when our thread is gone. The caller
// holds its thread until cmd has ended.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { killGroup(cmd.Process); return nil }
}
