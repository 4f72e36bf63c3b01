// Package misuse is the error for a mistake of the caller: a flag, a file or a
// setting that makes no sense. A command that ends with one has exit code 2.
package misuse

import (
	"errors"
	"fmt"
)

// Error is a mistake of the caller.
type Error struct{ Err error }

// Error returns the message of the mistake itself.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the mistake itself.
func (e *Error) Unwrap() error { return e.Err }

// New makes an error the caller's mistake; nil stays nil.
func New(err error) error {
	if err == nil {
		return nil
	}
	return &Error{err}
}

// Is reports whether an error is the caller's mistake, or wraps one.
func Is(err error) bool {
	_, is := errors.AsType[*Error](err)
	return is
}

// Errorf returns an Error with a message.
func Errorf(format string, args ...any) error {
	return &Error{fmt.Errorf(format, args...)}
}
