package git

import (
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// abandoned is how long nobody wrote to a temporary file of git's before it counts
// as one that a killed process left.
const abandoned = time.Hour

// temporary matches the files that git writes before it gives them their names.
var temporary = regexp.MustCompile(`^tmp_(obj|pack|idx|rev|bitmap|mtimes)_[A-Za-z0-9]+$`)

// RemoveLeftovers removes the temporary files of objects that killed git processes
// left, as far as they are ours: nothing else does before the repository is pruned.
func (r *Repo) RemoveLeftovers(ours func(os.FileInfo) bool) {
	above := filepath.Join(r.CommonDir, "objects")
	dirs := []string{above}
	entries, err := os.ReadDir(above)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if entry.IsDir() && (len(entry.Name()) == 2 || entry.Name() == "pack") {
			dirs = append(dirs, filepath.Join(above, entry.Name()))
		}
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, entry := range entries {
			if !temporary.MatchString(entry.Name()) {
				continue
			}
			info, err := entry.Info()
			if err == nil && info.Mode().IsRegular() && ours(info) && time.Since(info.ModTime()) > abandoned {
				_ = os.Remove(filepath.Join(dir, entry.Name())) // else the next run does
			}
		}
	}
}
