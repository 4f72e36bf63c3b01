//go:build !linux

package process

import (
	"context"
	"runtime"
)

// ProbeIsolation says that there is no isolation on this system.
func (r *Runner) ProbeIsolation(context.Context, string, []string) Probe {
	return Probe{
		Reason: "isolation needs Linux; this is " + runtime.GOOS,
		Cure:   "run it in a container or a virtual machine with Linux",
	}
}
