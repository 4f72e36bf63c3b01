package files_test

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/files"
)

func TestFull(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, fmt.Errorf("keep it: %w", syscall.EDQUOT),
		errors.New("git write-tree: error: unable to write file: No space left on device"),
	} {
		assert.True(t, files.Full(err), err)
	}
	for _, err := range []error{nil, syscall.ENOENT, errors.New("no space for a person")} {
		assert.False(t, files.Full(err), err)
	}
}
