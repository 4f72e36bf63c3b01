package tree

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
)

// Release hands the tree back to its builder, which makes the next tree of it by putting
// back what changed: that costs a fraction of a new one. The directory around it must be its
// own, and goes with it. Releasing twice does nothing.
func (t *Tree) Release() {
	if t.released {
		return
	}
	t.released = true
	kept, own := *t, filepath.Dir(t.Dir)
	kept.Dir, kept.staged, kept.released = own+"-"+rand.Text(), nil, false
	if t.unstage() == nil && len(t.Shared) == 0 && len(t.Absent) == 0 && plainDirectory(t.Dir) &&
		os.Rename(t.Dir, kept.Dir) == nil {
		t.builder.spare = append(t.builder.spare, &kept)
	}
	_ = files.RemoveAll(own) // An agent may have left things beside its tree. What stays goes with the run's directory.
}

// Released counts the files of the trees that were released.
func (b *Builder) Released() (files int) {
	for _, t := range b.spare {
		files += len(t.entries)
	}
	return files
}

// Close removes the trees that were released.
func (b *Builder) Close() {
	for _, t := range b.spare {
		_ = files.RemoveAll(t.Dir)
	}
	b.spare = nil
}

// reuse turns a released tree into the one that Build was asked for. It returns nil when no
// released tree can be shown to be the same as a new one.
func (b *Builder) reuse(ctx context.Context, treeish, dir string, o Options) *Tree {
	for len(b.spare) > 0 && len(o.Share) == 0 {
		last := len(b.spare) - 1
		t := b.spare[last]
		b.spare = b.spare[:last]
		if t.move(dir) == nil && t.fill(ctx, treeish, o) == nil {
			return t
		}
		_ = files.RemoveAll(t.Dir)
	}
	return nil
}

// move puts a released tree where the next one is wanted.
func (t *Tree) move(dir string) error {
	if broken := t.Broken(); broken != "" {
		return errors.New(broken)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := os.Rename(t.Dir, dir); err != nil {
		return err
	}
	t.Dir = dir
	return nil
}

// restore is one look at a tree that was used, for the entries of the next one.
type restore struct {
	*Tree
	verify bool // content is read
	next   map[string]git.TreeEntry
	above  map[string]bool // the directories with entries below them
	kept   map[string]recorded
}

// keep removes from the tree whatever is not an entry of the next one, or is not as it was
// built, and returns the rest: files that the kernel says were not touched, which verify
// holds byte for byte against what they are to be.
func (t *Tree) keep(entries []git.TreeEntry, verify bool) (map[string]recorded, error) {
	r := &restore{Tree: t, verify: verify, next: map[string]git.TreeEntry{}, kept: map[string]recorded{}}
	for _, entry := range entries {
		r.next[entry.Path] = entry
	}
	r.above = directoriesOf(r.next)
	if len(t.entries) == 0 {
		return r.kept, nil
	}
	return r.kept, r.walk("")
}

func (r *restore) walk(dir string) error {
	if err := r.reopen(dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(r.path(dir))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if dir != "" {
			name = dir + "/" + name
		}
		was, tracked := r.entries[name]
		_, known := r.directories[name]
		switch {
		case entry.IsDir() && known && r.above[name]:
			err = r.walk(name)
		case tracked && was.TreeEntry == r.next[name] && r.untouched(name, was):
			r.kept[name] = was
		default:
			err = files.RemoveAll(r.path(name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *restore) untouched(name string, was recorded) bool {
	return r.stamp(name) == was.stamp && was.stamp.before(r.built) &&
		(!r.verify || !was.stamp.mode.IsRegular() || r.hasContent(name, was))
}

// reopen makes a directory what it was where anything was done to it.
func (r *restore) reopen(dir string) error {
	was, path := r.directories[dir], r.path(dir)
	if r.stamp(dir) == was {
		return nil
	}
	if !plainDirectory(path) {
		return fmt.Errorf("%s has attributes that it had not", path)
	}
	now := time.Now()
	return errors.Join(os.Chmod(path, was.mode.Perm()), os.Chtimes(path, now, now))
}
