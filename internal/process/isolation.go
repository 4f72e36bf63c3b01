package process

import (
	"errors"
	"path/filepath"
)

// Isolation is how commands are kept apart from the rest of the system: they
// see its files read-only, but for their directory, their HOME and temporary
// directory; homes, temporary directories of others and sockets not at all; no
// process but their own; and no network when Spec.Offline is set. The home of
// the user is empty to them except for what the variables of their environment
// name: programs in PATH, toolchains, caches. What they write to the caches of
// toolchains goes to their HOME, and commands that share that one share it.
type Isolation struct {
	// Bubblewrap is the absolute path of the bwrap that makes the view; "" is namespaces
	// of our own, which need no other program and let commands write to copies of the
	// toolchain caches.
	Bubblewrap string
	// Home is the user's own home, hidden with every other.
	Home string
	// Hidden are more directories and files that no command may see, Readable
	// those that all may read although they lie in something hidden.
	Hidden, Readable []string

	plainCaches bool // no overlays, as on a system without them
}

// Probe is what running an isolated command has shown.
type Probe struct {
	// Isolation works here; nil means that no way does.
	Isolation *Isolation
	// Reason is one line that says why nothing works, with the cure where there
	// is one; "" when something does.
	Reason string
	// Cure is what to do about it, one line; "" when something works.
	Cure string
}

// Method names the way that works.
func (i *Isolation) Method() string {
	if i.Bubblewrap != "" {
		return "bwrap"
	}
	return "namespaces"
}

// errOffline refuses what cannot be promised.
var errOffline = errors.New("it may not reach the network, which needs isolation, and this machine has no isolation")

// scratchName is the directory in the HOME of a command that keeps what it
// wrote to toolchain caches; the command does not see it.
const scratchName = ".autoloop-caches"

// scratch is that directory for the command of env; "" without a HOME.
func scratch(env []string) string {
	home := Getenv(env, "HOME")
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, scratchName)
}
