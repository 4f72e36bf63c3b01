//go:build !unix

package command

import (
	"os/exec"
)

// ownGroup does nothing where there are no process groups: the end of the
// context kills cmd alone.
func ownGroup(*exec.Cmd) {}
