//go:build !linux

package process

import "context"

// self is "": there is no supervision on this system.
func self() string { return "" }

// Start is "" for a process that is gone; when it was started this system does not tell.
func Start(pid int) string {
	if running(pid) {
		return "running"
	}
	return ""
}

// Supervise does nothing on this system: no process is ever started as a
// supervisor.
func Supervise([]string) (handled bool, exitCode int) { return false, 0 }

// supervised runs the command plainly, in a process group of its own.
func (r *Runner) supervised(ctx context.Context, spec *Spec, path string) (Result, error) {
	return r.plain(ctx, spec, path)
}
