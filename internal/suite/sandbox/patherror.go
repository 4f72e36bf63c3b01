package sandbox

import "fmt"

// PathError says that a path of a fixture or a configuration cannot be put
// into a sandbox. It is a fault of what was given, not of Autoloop.
type PathError struct {
	// Where names the fixture or the configuration, Path the path in it.
	Where, Path, Reason string
}

// Error gives where, path and reason.
func (e *PathError) Error() string {
	return fmt.Sprintf("%s: %q %s", e.Where, e.Path, e.Reason)
}
