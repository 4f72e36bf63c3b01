package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/lazyregexp"
)

// The forms of the names of what an application keeps, and of what it puts in place.
var (
	keptName   = lazyregexp.New(`^(?:before-[a-z]+-[0-9]+)?$`)
	placedName = lazyregexp.New(`^(?:before-[a-z]+-[0-9]+|v[0-9]+|merged)?$`)
)

// KeepSkill takes a snapshot of the skill as it is under the first free name of
// purpose-1, purpose-2, …, and returns the name. One of these that is the same
// already is used; none is ever overwritten.
func (w *Workspace) KeepSkill(ctx context.Context, purpose string) (name string, err error) {
	now, err := Scan(ctx, w.Skill)
	if err != nil {
		return "", fmt.Errorf("read the skill: %w", err)
	}
	for n := 1; ; n++ {
		name = fmt.Sprintf("%s-%d", purpose, n)
		place := filepath.Join(w.Dir, name)
		if _, err := os.Lstat(place); errors.Is(err, fs.ErrNotExist) {
			taken, err := Take(ctx, w.Skill, place)
			if err == nil && taken.Tree.Digest() != now.Digest() {
				err = errors.New("the skill changed while it was copied; run this again")
			}
			return name, err
		}
		if kept, err := Verify(ctx, place); err == nil && kept.Digest() == now.Digest() {
			return name, nil
		}
	}
}

// Undone is the snapshot that an undo puts back: what the skill was before its
// last application, when that was a merge, else v0.
func (w *Workspace) Undone() (name, dir string) {
	if w.Applied != nil && w.Applied.Before != "" {
		return w.Applied.Before, filepath.Join(w.Dir, w.Applied.Before)
	}
	return "v0", w.Version(0)
}

// Finish ends an application in place that was killed, and returns whether there was
// one. What is neither of the copy that it made before nor of what was to come is a
// person's, and an error: then nothing is changed.
func (w *Workspace) Finish(ctx context.Context) (bool, error) {
	if w.Applied == nil || w.Applied.To == "" {
		return false, nil
	}
	from, to := filepath.Join(w.Dir, w.Applied.From), filepath.Join(w.Dir, w.Applied.To)
	was, err := Verify(ctx, from)
	if err != nil {
		return false, err
	}
	wanted, err := Verify(ctx, to)
	if err != nil {
		return false, err
	}
	now, err := Scan(ctx, w.Skill)
	if err != nil {
		return false, err
	}
	for _, d := range files.Compare(now, wanted) {
		if before, is := was.Find(d.Path); d.Before != nil && !d.Before.IsDir() && (!is || *d.Before != before) {
			return false, fmt.Errorf("%q of the skill was changed after an application of it was interrupted; what "+
				"the skill was is kept as %s: put that back with `iterate skill restore`, or give the file another place", d.Path, from)
		}
	}
	restored, err := RestoreOver(ctx, to, w.Skill, now.Digest())
	if err != nil {
		return false, err
	}
	w.Applied.Digest, w.Applied.From, w.Applied.To = restored.Digest, "", ""
	return true, w.Save()
}

// InPlace reports whether a directory has a `.git` in it, so that a snapshot is
// restored to it entry by entry.
func InPlace(ctx context.Context, dir string) (bool, error) {
	found, err := list(ctx, dir)
	if err != nil {
		return false, err
	}
	return len(found.kept) > 0, found.root.Close()
}
