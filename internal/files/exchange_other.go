//go:build !linux

package files

import (
	"errors"
	"os"
)

// Exchange gives two existing names each other's file or directory, in one
// step. The error wraps errors.ErrUnsupported where the system cannot.
func Exchange(a, b string) error {
	return &os.LinkError{Op: "exchange", Old: a, New: b, Err: errors.ErrUnsupported}
}
