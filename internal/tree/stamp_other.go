//go:build !linux

package tree

import "io/fs"

func stampOf(info fs.FileInfo) stamp {
	return stamp{mode: info.Mode(), size: info.Size(), modtime: info.ModTime()}
}
