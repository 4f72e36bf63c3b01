package tree

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/git"
)

// Touched has the tracked files, of those that the caller watches, and the
// shared ones, that anybody wrote to since the tree was built: true where the content
// is another. The others have the same content again, or another mode or the like.
// A file that was changed and put back is among them where the system tells the
// time of an inode's last change.
func (t *Tree) Touched(watched func(path string) bool) map[string]bool {
	touched := map[string]bool{}
	for path, was := range t.entries {
		if was.Type != "blob" || !watched(path) {
			continue
		}
		if now := t.stamp(path); now != was.stamp {
			// Where line ends are converted the content never is that of the object.
			touched[path] = !now.mode.IsRegular() || !was.stamp.mode.IsRegular() || now.size != was.stamp.size ||
				!t.hasContent(path, was)
		}
	}
	for path, was := range t.sharedStamps {
		if !was.mode.IsDir() && t.stamp(path) != was {
			touched[path] = true
		}
	}
	return touched
}

// Altered lists the tracked files, of those that the caller watches, whose content is
// not that of the commit any more, in order of path.
func (t *Tree) Altered(watched func(path string) bool) []string {
	touched := t.Touched(watched)
	maps.DeleteFunc(touched, func(path string, content bool) bool {
		_, tracked := t.entries[path]
		return !tracked || !content
	})
	return slices.Sorted(maps.Keys(touched))
}

// Files lists the tracked regular files that the caller wants, in order of path.
func (t *Tree) Files(wanted func(path string) bool) []string {
	var files []string
	for path, was := range t.entries {
		if was.stamp.mode.IsRegular() && wanted(path) {
			files = append(files, path)
		}
	}
	slices.Sort(files)
	return files
}

// GrownShares lists the shared paths in which anything was made or removed since
// the tree was built.
func (t *Tree) GrownShares() []string {
	return slices.DeleteFunc(slices.Clone(t.Shared), func(name string) bool {
		for dir, was := range t.sharedStamps {
			if was.mode.IsDir() && strings.HasPrefix(dir+"/", name+"/") && t.stamp(dir) != was {
				return false
			}
		}
		return true
	})
}

// hasContent compares what is known to be a regular file of the recorded size.
func (t *Tree) hasContent(path string, was recorded) bool {
	data, err := readFile(t.path(path), was.stamp.size, t.buffer)
	if cap(data) <= maxFile {
		t.buffer = data
	}
	return err == nil && git.BlobID(t.repo.ObjectFormat, data) == was.ID
}

// Broken says why the tree is of no use any more, "" when its directory is the
// one that was built and can be read.
func (t *Tree) Broken() string {
	now, err := os.Lstat(t.Dir)
	if err != nil {
		return "its tree is gone"
	}
	if !os.SameFile(t.self, now) {
		return "its tree is not the directory that was built"
	}
	dir, err := os.Open(t.Dir)
	if err != nil {
		return "its tree cannot be read"
	}
	_ = dir.Close()
	return ""
}
