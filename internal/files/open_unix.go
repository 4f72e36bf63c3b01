//go:build unix

package files

import "syscall"

// NonBlocking keeps an open from waiting at a pipe that was put in a file's place.
const NonBlocking = syscall.O_NONBLOCK
