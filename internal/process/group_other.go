//go:build !unix

package process

import (
	"os"
	"os/exec"
)

// ownGroup does nothing where there are no process groups: the end of the
// context kills cmd alone.
func ownGroup(*exec.Cmd) {}

func killGroup(process *os.Process) { _ = process.Kill() }

func terminateGroup(process *os.Process) { _ = process.Kill() }

func signalOf(*os.ProcessState) string { return "" }
