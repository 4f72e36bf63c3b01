//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// ownGroup puts cmd into a process group of its own, which is killed when the
// context ends.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { killGroup(cmd.Process); return nil }
}
