//go:build !linux && !darwin

package tree

import (
	"io/fs"
	"os"
)

func stampOf(info fs.FileInfo) stamp {
	return stamp{mode: info.Mode(), size: info.Size(), modified: info.ModTime(), changed: info.ModTime()}
}

// plainDirectory is not known here, so that no tree is used twice.
func plainDirectory(string) bool { return false }

func readFile(path string, _ int64) ([]byte, error) { return os.ReadFile(path) }
