package git

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/org/autoloop/internal/lazyregexp"
)

// abandoned is how long nobody wrote to a temporary file of git's before it counts
// as one that a killed process left.
const abandoned = time.Hour

// temporary matches the files that git writes before it gives them their names.
var temporary = lazyregexp.New(`^tmp_(obj|pack|idx|rev|bitmap|mtimes)_[A-Za-z0-9]+$`)

// temporaryDir matches the directories in which git keeps the objects of a push, and
// of other commands, until they count.
var temporaryDir = lazyregexp.New(`^tmp_objdir-[a-z-]+-[A-Za-z0-9]+$`)

// RemoveLeftovers removes the temporary objects that killed git processes left, as
// far as they are ours: nothing else does before the repository is pruned. With a
// remote on this machine, "" for none, it does so there too.
func (r *Repo) RemoveLeftovers(ctx context.Context, remote string, ours func(os.FileInfo) bool) {
	removeLeftovers(filepath.Join(r.CommonDir, "objects"), ours)
	if remote == "" {
		return
	}
	if at := r.Remote(remote).localPath(ctx); at != "" {
		for _, place := range []string{at, filepath.Join(at, ".git")} {
			removeLeftovers(filepath.Join(place, "objects"), ours)
		}
	}
}

func removeLeftovers(objects string, ours func(os.FileInfo) bool) {
	entries, err := os.ReadDir(objects)
	if err != nil {
		return
	}
	dirs := []string{objects}
	for _, entry := range entries {
		path := filepath.Join(objects, entry.Name())
		switch {
		case !entry.IsDir():
		case len(entry.Name()) == 2 || entry.Name() == "pack":
			dirs = append(dirs, path)
		case temporaryDir().MatchString(entry.Name()) && isLeft(path, ours):
			_ = os.RemoveAll(path) // else the next run does
		}
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, entry := range entries {
			path := filepath.Join(dir, entry.Name())
			if temporary().MatchString(entry.Name()) && entry.Type().IsRegular() && isLeft(path, ours) {
				_ = os.Remove(path) // as above
			}
		}
	}
}

// isLeft reports whether a path, and all below it, is ours and nobody has written to
// it for long.
func isLeft(path string, ours func(os.FileInfo) bool) bool {
	left := true
	err := filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if left = ours(info) && time.Since(info.ModTime()) > abandoned; !left {
			return filepath.SkipAll
		}
		return nil
	})
	return err == nil && left
}
