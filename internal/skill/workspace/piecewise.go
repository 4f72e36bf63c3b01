package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/org/autoloop/internal/files"
)

// journalOf is the file beside a directory that names the snapshot which is
// being restored to it entry by entry.
func journalOf(dir string) string { return hidden(dir, "restoring") }

// Resume finishes a restore that was killed between two entries of a directory
// with a `.git`, and returns whether there was one. What other killed restores
// left beside the directory is removed.
func Resume(ctx context.Context, dir string) (bool, error) {
	place, err := resolve(dir)
	if err != nil {
		return false, err
	}
	if err := tidyBeside(place); err != nil {
		return false, err
	}
	const longest = 64 << 10
	snapshot, err := readSmall(journalOf(place), longest)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if _, err := Restore(ctx, string(snapshot), place); err != nil {
		return false, fmt.Errorf("finish what was interrupted: %w", err)
	}
	return true, nil
}

// tidyBeside removes what killed restores of a directory left.
func tidyBeside(dir string) error {
	unlock, err := files.Lock(filepath.Dir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	return tidy(dir)
}

// blocked refuses a snapshot that has a file where the directory has something
// with a `.git` in it.
func (r *restoring) blocked() error {
	if r.now == nil {
		return nil
	}
	for _, e := range r.from.tree {
		if !e.IsDir() && r.now.protects(e.Path) {
			return fmt.Errorf("%q is a directory with a .git in it, and the snapshot has no directory there; move it away first", e.Path)
		}
	}
	return nil
}

// piecewise exchanges the entries of a directory one by one, and descends where
// a `.git` is further down.
func (r *restoring) piecewise() error {
	if err := files.WriteFile(journalOf(r.dir), []byte(r.snapshot), 0o600); err != nil {
		return err
	}
	old, err := newStage(r.dir)
	if err != nil {
		return err
	}
	defer func() { _ = files.RemoveAll(old) }()
	p := pieces{restoring: r, old: old, touched: map[string]bool{}}
	for _, d := range r.changes {
		for name := d.Path; name != "."; name = path.Dir(name) {
			p.touched[name] = true
		}
	}
	if err := p.directory("."); err != nil {
		return err
	}
	return files.SyncDirectory(r.dir)
}

type pieces struct {
	*restoring

	old     string
	touched map[string]bool // paths that differ, and those above them
	count   int
}

// directory exchanges what differs right in one directory, which stays.
func (p *pieces) directory(dir string) error {
	for name := range p.names(dir) {
		if err := p.entry(name); err != nil {
			return err
		}
	}
	return nil
}

// names are the entries right in a directory, in either tree, that differ.
func (p *pieces) names(dir string) map[string]bool {
	found := map[string]bool{}
	for name := range p.touched {
		if path.Dir(name) == dir {
			found[name] = true
		}
	}
	return found
}

func (p *pieces) entry(name string) error {
	local := filepath.FromSlash(name)
	place, fresh := filepath.Join(p.dir, local), filepath.Join(p.fresh, local)
	wanted, hasNew := p.from.tree.Find(name)
	_, hasOld := p.now.tree.Find(name)
	p.count++
	aside := filepath.Join(p.old, fmt.Sprint(p.count))
	switch {
	case p.now.protects(name):
		if err := p.directory(name); err != nil || !hasNew {
			return err
		}
		return os.Chmod(place, wanted.Mode.Perm())
	case hasNew && hasOld:
		return swap(fresh, place, aside)
	case hasNew:
		return os.Rename(fresh, place)
	default:
		return os.Rename(place, aside)
	}
}
