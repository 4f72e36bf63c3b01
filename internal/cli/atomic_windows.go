package cli

import (
	"io/fs"
	"os"
	"path/filepath"
)

// writeAtomically replaces a file by one with this content, or leaves it.
func writeAtomically(file string, data []byte, mode fs.FileMode) error {
	temporary, err := os.CreateTemp(filepath.Dir(file), ".autoloop-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	if _, err := temporary.Write(data); err != nil {
		_ = temporary.Close()
		return err
	}
	if err := temporary.Close(); err != nil {
		return err
	}
	if err := os.Chmod(temporary.Name(), mode); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), file)
}
