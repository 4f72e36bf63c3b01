package tree

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
)

// copyChanged copies the content of a changed file to target. A path that became a
// link, a pipe or another file since it was looked at is an error, and so is a
// way to it that leaves the tree.
func copyChanged(root *os.Root, c decision.Change, target string) (err error) {
	source, err := files.OpenRegular(root, c.Path)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	var permissions os.FileMode = 0o600
	if c.NewMode == git.ModeExecutable {
		permissions = 0o700
	}
	file, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, permissions)
	if err != nil {
		return err
	}
	n, err := io.Copy(file, io.LimitReader(source, maxFile+1))
	if err == nil && n > maxFile {
		err = fmt.Errorf("it grew beyond %d bytes while it was read", maxFile)
	}
	return errors.Join(err, file.Close())
}
