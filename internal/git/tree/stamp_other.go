//go:build !linux && !darwin

package tree

import (
	"io/fs"
)

func stampOf(info fs.FileInfo) stamp {
	return stamp{mode: info.Mode(), size: info.Size(), modified: info.ModTime(), changed: info.ModTime()}
}
