//go:build !linux

package process

import "context"

// self is "": there is no supervision on this system.
func self() string { return "" }

// Supervise does nothing on this system: no process is ever started as a
// supervisor.
func Supervise([]string) (handled bool, exitCode int) { return false, 0 }

// Conceal does nothing: this system has no such setting.
func Conceal() {}

// supervised runs the command plainly, in a process group of its own.
func (r *Runner) supervised(ctx context.Context, spec *Spec, path string) (Result, error) {
	return r.plain(ctx, spec, path)
}
