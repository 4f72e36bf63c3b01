//go:build unix

package tree

import "syscall"

// nonBlocking keeps an open from waiting at a pipe that was put in a file's place.
const nonBlocking = syscall.O_NONBLOCK
