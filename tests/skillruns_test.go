package tests

import (
	"os"
	"path/filepath"
)

func (w *world) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(w.dir, name))
	return err == nil
}
