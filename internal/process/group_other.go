//go:build !unix

package process

import (
	"os"
	"syscall"
)

// ownGroup is nothing where there are no process groups.
func ownGroup() *syscall.SysProcAttr { return nil }

func signalGroup(process *os.Process, _ syscall.Signal) { _ = process.Kill() }

func signalOf(*os.ProcessState) string { return "" }
