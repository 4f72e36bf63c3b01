package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/org/autoloop/internal/files"
)

// Restored is what came of restoring a snapshot.
type Restored struct {
	Digest string `json:"digest"`
	// Changed is false when the directory was as the snapshot already.
	Changed bool `json:"changed"`
	// Written counts the files that were copied, Removed the entries that the
	// snapshot does not have.
	Written int `json:"written"`
	Removed int `json:"removed"`
}

// Restore makes a directory equal to a snapshot: content, modes and links, and
// nothing besides, but for `.git`, which it does not touch. Files that are right
// already stay the same files. What is wrong with the snapshot is a *BadError,
// and nothing is changed then. A process that is killed leaves the old state or
// the new one; where a `.git` keeps the directory from being exchanged whole,
// its entries are exchanged one by one, and Resume finishes that.
func Restore(ctx context.Context, snapshot, dir string) (Restored, error) {
	return RestoreOver(ctx, snapshot, dir, "")
}

// RestoreOver is Restore that changes nothing unless the directory has this
// digest, "" for any: what somebody wrote meanwhile is not lost.
func RestoreOver(ctx context.Context, snapshot, dir, digest string) (Restored, error) {
	restored, err := restore(ctx, snapshot, dir, digest)
	if err != nil {
		return Restored{}, fmt.Errorf("restore %s: %w", dir, err)
	}
	return restored, nil
}

func restore(ctx context.Context, snapshot, dir, digest string) (Restored, error) {
	snapshot, dir, err := restorePlaces(snapshot, dir)
	if err != nil {
		return Restored{}, err
	}
	from, err := open(ctx, snapshot)
	if err != nil {
		return Restored{}, err
	}
	defer func() { _ = from.root.Close() }()
	unlock, err := files.Lock(filepath.Dir(dir))
	if err != nil {
		return Restored{}, err
	}
	defer unlock()
	if err := tidy(dir); err != nil {
		return Restored{}, err
	}
	record := readSeen(snapshot, from.tree.Digest())
	now, err := current(ctx, dir, func(l *listing) { l.know(record, dir, from.tree) })
	if err != nil {
		return Restored{}, err
	}
	if digest != "" && (now == nil || now.tree.Digest() != digest) {
		return Restored{}, errors.New("it changed meanwhile; nothing was written: look at it, and run this again")
	}
	r := &restoring{snapshot: snapshot, dir: dir, from: from, now: now}
	if now != nil {
		defer func() { _ = now.root.Close() }()
		r.changes = Compare(now.tree, from.tree)
		if len(r.changes) == 0 {
			if now.read > 0 {
				record.read(dir, from.tree, now)
				record.write(snapshot)
			}
			return Restored{Digest: from.tree.Digest()}, removeFile(journalOf(dir))
		}
	}
	restored, err := r.run(ctx)
	if err != nil {
		return Restored{}, err
	}
	record.built(ctx, dir, from.tree, r.built, r.moved)
	record.write(snapshot)
	return restored, nil
}

// restorePlaces resolves both directories.
func restorePlaces(snapshot, dir string) (from, to string, err error) {
	if from, err = resolve(snapshot); err != nil {
		return "", "", err
	}
	if to, err = resolve(dir); err != nil {
		return "", "", err
	}
	if info, err := os.Lstat(to); err == nil && !info.IsDir() {
		return "", "", fmt.Errorf("%s is there and is no directory", dir)
	}
	if info, err := os.Stat(filepath.Dir(to)); err != nil || !info.IsDir() {
		return "", "", fmt.Errorf("%s is no directory; make it first", filepath.Dir(to))
	}
	return from, to, apart(from, to)
}

// current reads what is to be replaced, but for what know fills in; nil when it
// is not there. What cannot be read counts as different.
func current(ctx context.Context, dir string, know func(*listing)) (*listing, error) {
	now, err := list(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there is nothing to replace
	}
	if err != nil {
		return nil, err
	}
	for i := range now.tree {
		if ctx.Err() == nil && now.tree[i].IsFile() && now.tree[i].Mode&0o400 == 0 {
			now.tree[i].Mode = fs.ModeIrregular
		}
	}
	know(now)
	if err := now.hash(ctx); err != nil {
		_ = now.root.Close()
		return nil, err
	}
	return now, nil
}

// restoring is one restore under way.
type restoring struct {
	snapshot, dir string
	from          *listing
	now           *listing // nil when there is no directory yet
	changes       []Difference
	fresh         string    // the directory that will take its place
	built         *building // how it was put together
	moved         time.Time // when all of it was there
}

func (r *restoring) run(ctx context.Context) (Restored, error) {
	if err := r.blocked(); err != nil {
		return Restored{}, err
	}
	var err error
	if r.fresh, err = newStage(r.dir); err != nil {
		return Restored{}, err
	}
	defer func() { _ = files.RemoveAll(r.fresh) }()
	root, err := os.OpenRoot(r.fresh)
	if err != nil {
		return Restored{}, err
	}
	defer func() { _ = root.Close() }()
	r.built = &building{from: r.from, into: root, dir: r.fresh, old: r.now, mode: func(e Entry) fs.FileMode { return e.Mode.Perm() }}
	if err := r.built.build(ctx, r.from.tree); err != nil {
		return Restored{}, err
	}
	r.moved = time.Now()
	restored := Restored{Digest: r.from.tree.Digest(), Changed: true, Written: int(r.built.written.Load())}
	for _, d := range r.changes {
		if d.After == nil {
			restored.Removed++
		}
	}
	return restored, r.place()
}

// place puts the new directory where the old one is.
func (r *restoring) place() error {
	mode := fs.FileMode(0o755)
	if info, err := os.Stat(r.dir); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.Chmod(r.fresh, mode); err != nil {
		return err
	}
	var err error
	switch {
	case r.now == nil:
		err = os.Rename(r.fresh, r.dir)
	case len(r.now.kept) == 0:
		err = swap(r.fresh, r.dir, asideOf(r.dir))
	default:
		err = r.piecewise()
	}
	if err != nil {
		return err
	}
	return errors.Join(files.SyncDirectory(filepath.Dir(r.dir)), removeFile(journalOf(r.dir)))
}

func removeFile(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
