package files

import (
	"errors"
	"io/fs"
)

// Cause is an error of the file system without its operation and path, for a message
// that names the file in its own way.
func Cause(err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return of.Err
	}
	return err
}
