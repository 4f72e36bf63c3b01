package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/files"
)

// checkLinks refuses links that leave the directory. The kernel's own way of
// resolving decides, by way of os.Root; where nothing is at a link's end, its
// words decide.
func checkLinks(root *os.Root, m Manifest, where string) error {
	for _, e := range m {
		if !e.IsLink() {
			continue
		}
		if why := wrongLink(root, e); why != "" {
			return &PathError{Where: where, Path: e.Path, Reason: why}
		}
	}
	return nil
}

func wrongLink(root *os.Root, e Entry) string {
	const leaves = "is a link that leaves the sandbox"
	target := filepath.ToSlash(e.Target)
	if strings.HasPrefix(target, "/") || filepath.IsAbs(e.Target) || filepath.VolumeName(e.Target) != "" {
		return leaves
	}
	if end := path.Join(path.Dir(e.Path), target); end == ".." || strings.HasPrefix(end, "../") {
		return leaves
	}
	_, err := root.Stat(filepath.FromSlash(e.Path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return leaves + " or cannot be followed: " + files.Cause(err).Error()
	}
	return ""
}
